// Vectors that leave the network: the final-norm rows of the positions somebody reads.
#pragma once

#include <span>
#include <vector>

#include "base/size.h"

namespace adjudge {

class HiddenRows {
 public:
  explicit HiddenRows(int width = 0) : width_(width) {}

  int width() const { return width_; }
  int count() const { return width_ == 0 ? 0 : count_of(values_) / width_; }
  std::span<const float> row(int index) const {
    return {values_.data() + at(index) * at(width_), at(width_)};
  }

  // Adds a row of unspecified content and returns it.
  std::span<float> add_row() {
    values_.resize(values_.size() + at(width_));
    return {values_.data() + values_.size() - at(width_), at(width_)};
  }

 private:
  int width_;
  std::vector<float> values_;  // (rows, width)
};

}  // namespace adjudge
