// The one place where a container's size becomes an int (counts and indices are int, bytes size_t).
#pragma once

#include <iterator>
#include <limits>

#include "base/check.h"

namespace adjudge {

template <class Container>
int count_of(const Container& container) {
  const auto size = std::size(container);
  CHECK(size <= static_cast<decltype(size)>(std::numeric_limits<int>::max()));
  return static_cast<int>(size);
}

// For indexing standard containers with our ints.
constexpr std::size_t at(int index) {
  DCHECK(index >= 0);
  return static_cast<std::size_t>(index);
}

}  // namespace adjudge
