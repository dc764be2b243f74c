#include "kernel/hwcap.h"

namespace adjudge::kernel::neon_dotprod {

bool probe();
bool probe() { return has_asimd_dotprod(); }

}  // namespace adjudge::kernel::neon_dotprod
