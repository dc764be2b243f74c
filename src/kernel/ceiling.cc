#include "kernel/ceiling.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace adjudge::kernel {

#if defined(__x86_64__)

namespace {

// Fourteen independent chains in registers: what a core can do at most with such vectors, as they
// hide a latency of 6 at two a cycle. Instructions are written out, as compilers would add whole
// numbers up front.
constexpr int kChains = 14;
constexpr int kRounds = 1000;

#define ADJ_STEP(instruction, sum) asm volatile(instruction " %1, %1, %0" : "+v"(sum) : "v"(x));
#define ADJ_CEILING(name, isa, type, start, instruction)                                     \
  [[gnu::target(isa)]] void name() {                                                         \
    const type x = start;                                                                    \
    type a = x, b = x, c = x, d = x, e = x, f = x, g = x, h = x, i = x, j = x, k = x, l = x, \
         m = x, n = x;                                                                       \
    for (int round = 0; round < kRounds; ++round) {                                          \
      ADJ_STEP(instruction, a)                                                               \
      ADJ_STEP(instruction, b)                                                               \
      ADJ_STEP(instruction, c)                                                               \
      ADJ_STEP(instruction, d)                                                               \
      ADJ_STEP(instruction, e)                                                               \
      ADJ_STEP(instruction, f)                                                               \
      ADJ_STEP(instruction, g)                                                               \
      ADJ_STEP(instruction, h)                                                               \
      ADJ_STEP(instruction, i)                                                               \
      ADJ_STEP(instruction, j)                                                               \
      ADJ_STEP(instruction, k)                                                               \
      ADJ_STEP(instruction, l)                                                               \
      ADJ_STEP(instruction, m)                                                               \
      ADJ_STEP(instruction, n)                                                               \
    }                                                                                        \
  }
ADJ_CEILING(fma_512, "avx512f", __m512, _mm512_set1_ps(0.5f), "vfmadd231ps")
ADJ_CEILING(bf16_512, "avx512f,avx512bf16", __m512, _mm512_set1_ps(0.5f), "vdpbf16ps")
ADJ_CEILING(int8_512, "avx512f,avx512vnni", __m512i, _mm512_set1_epi8(1), "vpdpbusd")
ADJ_CEILING(fma_256, "avx2,fma", __m256, _mm256_set1_ps(0.5f), "vfmadd231ps")
ADJ_CEILING(int8_256, "avx2,avxvnni", __m256i, _mm256_set1_epi8(1), "%{vex%} vpdpbusd")
#undef ADJ_CEILING
#undef ADJ_STEP

constexpr double operations(int lanes) { return 2.0 * kRounds * kChains * lanes; }

constexpr Ceiling kCeilings[] = {{"avx2", "f32", fma_256, operations(8)},
                                 {"avxvnni", "int8", int8_256, operations(32)},
                                 {"avx512", "f32", fma_512, operations(16)},
                                 {"avx512vnni", "int8", int8_512, operations(64)},
                                 {"avx512bf16", "bf16", bf16_512, operations(32)}};

}  // namespace

std::span<const Ceiling> ceilings() { return kCeilings; }

#else

std::span<const Ceiling> ceilings() { return {}; }

#endif

}  // namespace adjudge::kernel
