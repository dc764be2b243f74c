#include "kernel/hwcap.h"

namespace adjudge::kernel::neon_i8mm {

bool probe();
bool probe() { return has_asimd_i8mm(); }

}  // namespace adjudge::kernel::neon_i8mm
