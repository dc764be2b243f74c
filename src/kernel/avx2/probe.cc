#include "kernel/cpuid.h"

namespace adjudge::kernel::avx2 {

bool probe();
bool probe() { return has_avx2_fma_f16c(); }

}  // namespace adjudge::kernel::avx2
