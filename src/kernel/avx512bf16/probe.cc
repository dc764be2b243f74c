#include "kernel/cpuid.h"

namespace adjudge::kernel::avx512bf16 {

bool probe();
bool probe() { return has_avx512_bf16(); }

}  // namespace adjudge::kernel::avx512bf16
