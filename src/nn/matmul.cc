#include "nn/matmul.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/size.h"

namespace adjudge {

namespace {

using kernel::kPanelColumns;
using kernel::kPanelDepth;

constexpr std::size_t kPanelFloats = std::size_t{kPanelColumns} * kPanelDepth;
// Rows that pass at a time through the buffer for outputs narrower than a panel: 8 KiB, in L1.
constexpr int kEdgeRows = 64;
constexpr std::size_t kEdgeFloats = std::size_t{kEdgeRows} * kPanelColumns;

int panel_count(int columns) { return (columns + kPanelColumns - 1) / kPanelColumns; }

// Some rows of a matrix in its file format, and the columns of the output they make.
struct WeightRows {
  gguf::DType type;
  const std::byte* bytes;
  std::size_t row_bytes;
  int count;  // at most kPanelColumns
};

// A panel writes kPanelColumns values per row; where the output ends earlier it goes by a buffer.
void multiply_edge(const kernel::Table& kernels, const Rows& x, const float* panel, int depth,
                   const Rows& out, bool accumulate, float* buffer) {
  const std::size_t bytes = at(out.width) * sizeof(float);
  for (int begin = 0; begin < x.count; begin += kEdgeRows) {
    const int count = std::min(kEdgeRows, x.count - begin);
    for (int i = 0; accumulate && i < count; ++i) {
      std::memcpy(buffer + at(i) * kPanelColumns, out.row(begin + i), bytes);
    }
    kernels.multiply_panel(x.row(begin), x.stride, count, panel, depth, buffer, kPanelColumns,
                           accumulate);
    for (int i = 0; i < count; ++i) {
      std::memcpy(out.row(begin + i), buffer + at(i) * kPanelColumns, bytes);
    }
  }
}

// out (x.count, weights.count) = x times the transposed weights. `scratch` is kPanelFloats +
// kEdgeFloats.
void multiply_rows(const kernel::Table& kernels, const Rows& x, const WeightRows& weights,
                   const Rows& out, float* scratch) {
  float* panel = scratch;
  const auto fill_panel = kernels.fill_panel[static_cast<int>(weights.type)];
  for (int begin = 0; begin < x.width; begin += kPanelDepth) {
    const int depth = std::min(kPanelDepth, x.width - begin);
    const bool accumulate = begin > 0;
    fill_panel(weights.bytes, weights.row_bytes, weights.count, begin, depth, panel);
    const Rows slice{x.data + begin, x.count, depth, x.stride};
    if (weights.count < kPanelColumns) {
      multiply_edge(kernels, slice, panel, depth, out, accumulate, scratch + kPanelFloats);
    } else {
      kernels.multiply_panel(slice.data, slice.stride, slice.count, panel, depth, out.data,
                             out.stride, accumulate);
    }
  }
}

// Columns [begin, begin + kPanelColumns) of `out`, or what there is of them.
Rows panel_of(const Rows& out, int begin) {
  return {out.data + begin, out.count, std::min(kPanelColumns, out.width - begin), out.stride};
}

}  // namespace

void multiply(const NetContext& net, const Rows& x, std::span<const Product> products) {
  int task_count = 0;
  for (const Product& product : products) {
    CHECK(product.matrix->columns == x.width && product.matrix->rows == product.out.width &&
          product.out.count == x.count);
    task_count += panel_count(product.out.width);
  }
  if (x.count == 0) return;
  const auto multiply_one = [&](int index, int worker) {
    const Product* product = products.data();
    for (; index >= panel_count(product->out.width); ++product) {
      index -= panel_count(product->out.width);
    }
    const Matrix& matrix = *product->matrix;
    const int begin = index * kPanelColumns;
    const Rows out = panel_of(product->out, begin);
    const std::byte* bytes = net.weights->acquire(matrix, begin, out.width);
    multiply_rows(*net.kernels, x, {matrix.type, bytes, matrix.row_bytes, out.width}, out,
                  net.pool->scratch(worker, kPanelFloats + kEdgeFloats));
    net.weights->release(matrix, begin, out.width);
  };
  net.pool->run(task_count, multiply_one);
}

void multiply_selected(const NetContext& net, const Rows& x, const Matrix& matrix,
                       std::span<const int> selected, const Rows& out) {
  CHECK(matrix.columns == x.width && count_of(selected) == out.width && out.count == x.count);
  if (x.count == 0) return;
  // The selected rows are brought together as they are, so their bits are those of multiply().
  const std::size_t stored_floats = (kPanelColumns * matrix.row_bytes + 3) / sizeof(float);
  const auto multiply_one = [&](int index, int worker) {
    float* scratch = net.pool->scratch(worker, kPanelFloats + kEdgeFloats + stored_floats);
    auto* stored = reinterpret_cast<std::byte*>(scratch + kPanelFloats + kEdgeFloats);
    const int begin = index * kPanelColumns;
    const Rows columns = panel_of(out, begin);
    for (int i = 0; i < columns.width; ++i) {
      const int row = selected[at(begin + i)];
      CHECK(row >= 0 && row < matrix.rows);
      std::memcpy(stored + at(i) * matrix.row_bytes, net.weights->acquire(matrix, row, 1),
                  matrix.row_bytes);
      net.weights->release(matrix, row, 1);
    }
    multiply_rows(*net.kernels, x, {matrix.type, stored, matrix.row_bytes, columns.width}, columns,
                  scratch);
  };
  net.pool->run(panel_count(out.width), multiply_one);
}

void gather(const NetContext& net, const Matrix& matrix, std::span<const int> ids,
            const Rows& out) {
  CHECK(count_of(ids) == out.count && matrix.columns == out.width);
  const gguf::DTypeTraits& traits = gguf::traits_of(matrix.type);
  const auto decode_one = [&](int index, int) {
    const int row = ids[at(index)];
    CHECK(row >= 0 && row < matrix.rows);
    traits.decode(net.weights->acquire(matrix, row, 1), at(matrix.columns / traits.block_values),
                  out.row(index));
    net.weights->release(matrix, row, 1);
  };
  net.pool->run(out.count, decode_one);
}

}  // namespace adjudge
