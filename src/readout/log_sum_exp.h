// log(exp(a) + exp(b) + ...), without overflow.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

namespace adjudge {

// At least one value. Exact for one: exp(0) and log(1) are.
template <typename Number>
double log_sum_exp(std::span<const Number> values) {
  const double highest = *std::max_element(values.begin(), values.end());
  double sum = 0;
  for (const Number value : values) sum += std::exp(value - highest);
  return highest + std::log(sum);
}

}  // namespace adjudge
