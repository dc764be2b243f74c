// Rows become columns of a panel, written in a level's lanes (its lanes.h).
// Everything is static or unnamed: units of several levels include this and must share nothing.
#pragma once

#include "kernel/table.h"

namespace adjudge::kernel {

namespace {

// Turns V::kCount rows of `count` words, `stride` words apart, into `panel`, V::kCount columns
// wide. Reads up to V::kCount words past the last.
template <class V>
void turn(const void* words, std::size_t stride, int count, void* panel) {
  const auto* from = static_cast<const float*>(words);
  auto* to = static_cast<float*>(panel);
  for (int k = 0; k < count; k += V::kCount) {
    typename V::Floats tile[V::kCount];
    for (int lane = 0; lane < V::kCount; ++lane) {
      tile[lane] = V::load(from + static_cast<std::size_t>(lane) * stride + k);
    }
    V::transpose(tile);
    const int rows = count - k < V::kCount ? count - k : V::kCount;
    for (int i = 0; i < rows; ++i) V::store(to + (k + i) * kPanelColumns, tile[i]);
  }
}

}  // namespace

}  // namespace adjudge::kernel
