// Rows become columns of a panel, written in a level's lanes (its lanes.h).
// Everything is static or unnamed: units of several levels include this and must share nothing.
#pragma once

#include "kernel/table.h"

namespace adjudge::kernel {

namespace {

// Turns V::kCount rows of `count` words into `panel`, V::kCount columns wide. load(lane, k) are
// words [k, k + V::kCount) of a row, and may be anything past the last.
template <class V, class Load>
void turn(int count, void* panel, const Load& load) {
  auto* to = static_cast<float*>(panel);
  for (int k = 0; k < count; k += V::kCount, to += V::kCount * kPanelColumns) {
    typename V::Floats tile[V::kCount];
    for (int lane = 0; lane < V::kCount; ++lane) tile[lane] = load(lane, k);
    V::transpose(tile);
    if (count - k >= V::kCount) {
      for (int i = 0; i < V::kCount; ++i) V::store(to + i * kPanelColumns, tile[i]);
    } else {
      for (int i = 0; i < count - k; ++i) V::store(to + i * kPanelColumns, tile[i]);
    }
  }
}

// The same for rows that lie `stride` words apart.
template <class V>
void turn(const void* words, std::size_t stride, int count, void* panel) {
  const auto* from = static_cast<const float*>(words);
  turn<V>(count, panel, [=](int lane, int k) {
    return V::load(from + static_cast<std::size_t>(lane) * stride + k);
  });
}

}  // namespace

}  // namespace adjudge::kernel
