#include "kernel/cpuid.h"

namespace adjudge::kernel::avx512vnni {

bool probe();
bool probe() { return has_avx512_vnni(); }

}  // namespace adjudge::kernel::avx512vnni
