#include "base/os/huge_pages.h"

#include <sys/mman.h>

namespace adjudge {

void prefer_huge_pages(void* data, std::size_t bytes) { ::madvise(data, bytes, MADV_HUGEPAGE); }

}  // namespace adjudge
