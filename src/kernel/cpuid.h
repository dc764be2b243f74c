// What an x86 processor and its operating system offer, read from CPUID and XGETBV. Compilers'
// built-ins differ in the names they know (clang 14 has no f16c). For probe.cc files only.
#pragma once

#include <cpuid.h>

#include <cstdint>

namespace adjudge::kernel {

struct CpuLeaf {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

// Zeros when the processor has no such leaf.
static inline CpuLeaf cpu_leaf(unsigned leaf, unsigned subleaf = 0) {
  CpuLeaf out;
  if (__get_cpuid_count(leaf, subleaf, &out.a, &out.b, &out.c, &out.d) == 0) return {};
  return out;
}

static inline bool has_bit(unsigned word, int bit) { return (word >> bit & 1u) != 0; }

// The register sets that the operating system saves (XCR0), zero without OSXSAVE.
static inline std::uint64_t saved_registers() {
  if (!has_bit(cpu_leaf(1).c, 27)) return 0;
  unsigned low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<std::uint64_t>(high) << 32 | low;
}

static inline bool has_avx2_fma_f16c() {
  constexpr std::uint64_t kYmm = 0x6;  // XCR0: xmm and upper halves of ymm
  const CpuLeaf basic = cpu_leaf(1), extended = cpu_leaf(7);
  return (saved_registers() & kYmm) == kYmm && has_bit(basic.c, 12) /* fma */ &&
         has_bit(basic.c, 28) /* avx */ && has_bit(basic.c, 29) /* f16c */ &&
         has_bit(extended.b, 5) /* avx2 */;
}

static inline bool has_avx512_f_bw_vl_dq() {
  constexpr std::uint64_t kZmm = 0xe6;  // XCR0: ymm, mask registers, both parts of zmm
  const CpuLeaf extended = cpu_leaf(7);
  return has_avx2_fma_f16c() && (saved_registers() & kZmm) == kZmm &&
         has_bit(extended.b, 16) /* f */ && has_bit(extended.b, 17) /* dq */ &&
         has_bit(extended.b, 30) /* bw */ && has_bit(extended.b, 31) /* vl */;
}

static inline bool has_avx512_vnni() {
  return has_avx512_f_bw_vl_dq() && has_bit(cpu_leaf(7).c, 11);
}

static inline bool has_avx512_bf16() {
  return has_avx512_f_bw_vl_dq() && has_bit(cpu_leaf(7, 1).a, 5);
}

static inline bool has_avx_vnni() { return has_avx2_fma_f16c() && has_bit(cpu_leaf(7, 1).a, 4); }

}  // namespace adjudge::kernel
