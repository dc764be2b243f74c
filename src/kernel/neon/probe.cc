#include "kernel/hwcap.h"

namespace adjudge::kernel::neon {

bool probe();
bool probe() { return has_asimd(); }

}  // namespace adjudge::kernel::neon
