#include "base/os/heap.h"

#include <cstdlib>

#if defined(__GLIBC__)
#include <malloc.h>

#include <climits>
#endif

namespace adjudge {

#if defined(__GLIBC__)

bool keep_freed_memory() {
  constexpr int kLargestBytes = 32 << 20;  // mallopt(3) takes no more
  // Heaps of single threads would not share what they keep.
  return mallopt(M_MMAP_THRESHOLD, kLargestBytes) == 1 && mallopt(M_TRIM_THRESHOLD, INT_MAX) == 1 &&
         mallopt(M_ARENA_MAX, 1) == 1;
}

void give_back_freed_memory() { malloc_trim(0); }

#else

bool keep_freed_memory() { return false; }

void give_back_freed_memory() {}

#endif

}  // namespace adjudge
