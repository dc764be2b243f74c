#include "kernel/hwcap.h"

namespace adjudge::kernel::neon_bf16 {

bool probe();
bool probe() { return has_asimd_bf16(); }

}  // namespace adjudge::kernel::neon_bf16
