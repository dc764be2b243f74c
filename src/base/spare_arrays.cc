#include "base/spare_arrays.h"

#include <algorithm>
#include <utility>

namespace adjudge {

Aligned<float> SpareArrays::take(std::size_t count) {
  {
    const std::lock_guard lock(mutex_);
    const auto fits = [count](const Aligned<float>& array) { return array.size() == count; };
    if (const auto found = std::ranges::find_if(kept_, fits); found != kept_.end()) {
      Aligned<float> array = std::move(*found);
      kept_.erase(found);
      return array;
    }
  }
  return Aligned<float>(count);
}

void SpareArrays::leave(Aligned<float> array) {
  if (array.size() == 0) return;
  const std::lock_guard lock(mutex_);
  if (kept_.size() < kKeptMax) kept_.push_back(std::move(array));
}

}  // namespace adjudge
