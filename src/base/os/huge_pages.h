// Large arrays in large pages: fewer page faults, and fewer misses when addresses are translated.
#pragma once

#include <cstddef>

namespace adjudge {

// What a page of this machine's larger kind is taken to be. Arrays of several of them start on one.
inline constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

// Asks for large pages behind [data, data + bytes). A wish: where there are none, nothing changes.
void prefer_huge_pages(void* data, std::size_t bytes);

}  // namespace adjudge
