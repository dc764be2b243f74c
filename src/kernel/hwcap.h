// What an Arm processor offers, as Linux tells a program at its start (getauxval; the bits are
// those of the kernel's <asm/hwcap.h>). For probe.cc files only.
#pragma once

// tidy: allow posix: a probe runs before anything else and may not use base/
#include <sys/auxv.h>

namespace adjudge::kernel {

static inline bool has_hwcap(int bit) { return (getauxval(AT_HWCAP) >> bit & 1u) != 0; }
static inline bool has_hwcap2(int bit) { return (getauxval(AT_HWCAP2) >> bit & 1u) != 0; }

static inline bool has_asimd() { return has_hwcap(1); }
static inline bool has_asimd_dotprod() { return has_asimd() && has_hwcap(20); }
static inline bool has_asimd_i8mm() { return has_asimd() && has_hwcap2(13); }
static inline bool has_asimd_bf16() { return has_asimd() && has_hwcap2(14); }

}  // namespace adjudge::kernel
