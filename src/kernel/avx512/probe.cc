#include "kernel/cpuid.h"

namespace adjudge::kernel::avx512 {

bool probe();
bool probe() { return has_avx512_f_bw_vl_dq(); }

}  // namespace adjudge::kernel::avx512
