// What the tests of this folder share.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/size.h"
#include "nn/fake_weights.h"
#include "nn/matmul.h"
#include "support/support.h"

namespace adjudge {

// A network context of its own, with a given number of threads.
struct TestNet {
  explicit TestNet(int threads = 2, Precision precision = Precision::f32)
      : table(kernel::make_table(testing::isa_limit())),
        pool(threads),
        context{&table, &pool, &weights, precision} {}
  kernel::Table table;
  WorkerPool pool;
  FakeWeights weights;
  NetContext context;
};

// Rows that own their values; between them lie `gap` values nobody may touch.
struct OwnedRows {
  static constexpr float kUntouched = -12345.0f;

  OwnedRows(int row_count, int row_width, int row_gap = 0)
      : count(row_count),
        width(row_width),
        gap(row_gap),
        values(at(row_count * (row_width + row_gap)), kUntouched) {}
  // Bell-shaped values.
  OwnedRows(std::string_view seed, int row_count, int row_width, int row_gap = 0)
      : OwnedRows(row_count, row_width, row_gap) {
    const std::vector<float> bells = testing::bell(seed, at(row_count * row_width));
    for (int i = 0; i < row_count * row_width; ++i) {
      row(i / row_width)[i % row_width] = bells[at(i)];
    }
  }

  float* row(int index) { return values.data() + index * (width + gap); }
  const float* row(int index) const { return values.data() + index * (width + gap); }
  Rows rows() { return rows(0, count); }
  Rows rows(int begin, int row_count) { return {row(begin), row_count, width, at(width + gap)}; }
  bool gaps_untouched() const {
    for (int i = 0; i < count_of(values); ++i) {
      if (i % (width + gap) >= width && values[at(i)] != kUntouched) return false;
    }
    return true;
  }

  int count, width, gap;
  std::vector<float> values;
};

inline double wide(float value) { return static_cast<double>(value); }

}  // namespace adjudge
