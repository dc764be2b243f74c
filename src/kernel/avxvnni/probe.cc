#include "kernel/cpuid.h"

namespace adjudge::kernel::avxvnni {

bool probe();
bool probe() { return has_avx_vnni(); }

}  // namespace adjudge::kernel::avxvnni
