#include "nn/delta_rule.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/size.h"

namespace adjudge {

namespace {

// 128 rows of 64 columns are 32 KiB: a slice of the state stays in L1 next to q, k and v.
constexpr int kSliceColumns = 64;

struct Slice {
  int head;   // of the values
  int begin;  // state columns [begin, begin + count)
  int count;
};

// Copies a slice of rows that lie `from_stride` apart to rows `to_stride` apart.
void copy_slice(const float* from, std::size_t from_stride, float* to, std::size_t to_stride,
                int rows, int columns) {
  for (int i = 0; i < rows; ++i, from += from_stride, to += to_stride) {
    std::memcpy(to, from, at(columns) * sizeof(float));
  }
}

// All tokens of a work for one slice; `state` is (width, kSliceColumns).
void run_slice(const kernel::Table& kernels, const DeltaShape& shape, const DeltaWork& work,
               const Slice& slice, float* state) {
  const std::size_t width = at(shape.width);
  const std::size_t offset = at(slice.head) * width * width + at(slice.begin);
  if (work.state_in != nullptr) {
    copy_slice(work.state_in + offset, width, state, kSliceColumns, shape.width, slice.count);
  } else {
    std::fill_n(state, width * kSliceColumns, 0.0f);
  }
  const int key_begin = slice.head % shape.key_head_count * shape.width;
  const int value_begin = slice.head * shape.width + slice.begin;
  const auto rows_of = [](const Rows& rows, int begin) {
    return kernel::TokenRows{rows.data + begin, rows.stride};
  };
  kernels.delta_rule(state, kSliceColumns,
                     {.count = work.out.count,
                      .width = shape.width,
                      .columns = slice.count,
                      .q = rows_of(work.queries, key_begin),
                      .k = rows_of(work.keys, key_begin),
                      .v = rows_of(work.values, value_begin),
                      .decay = rows_of(work.decays, slice.head),
                      .beta = rows_of(work.betas, slice.head),
                      .out = work.out.data + value_begin,
                      .out_stride = work.out.stride});
  if (work.state_out != nullptr) {
    copy_slice(state, kSliceColumns, work.state_out + offset, width, shape.width, slice.count);
  }
}

void check_shapes(const DeltaShape& shape, const DeltaWork& work) {
  const auto fits = [&](const Rows& rows, int width) {
    return rows.width == width && rows.count == work.out.count;
  };
  const int key_width = shape.key_head_count * shape.width;
  const int value_width = shape.value_head_count * shape.width;
  CHECK(fits(work.queries, key_width) && fits(work.keys, key_width));
  CHECK(fits(work.values, value_width) && fits(work.out, value_width));
  CHECK(fits(work.decays, shape.value_head_count) && fits(work.betas, shape.value_head_count));
}

}  // namespace

void apply_delta_rule(const NetContext& net, const DeltaShape& shape,
                      std::span<const DeltaWork> works) {
  for (const DeltaWork& work : works) check_shapes(shape, work);
  const int slice_count = (shape.width + kSliceColumns - 1) / kSliceColumns;
  // A slice depends on no other, so one task takes it through all works in their order.
  const auto run_task = [&](int index, int worker) {
    const int begin = index % slice_count * kSliceColumns;
    const Slice slice{index / slice_count, begin, std::min(kSliceColumns, shape.width - begin)};
    float* state = net.pool->scratch(worker, at(shape.width) * kSliceColumns);
    for (const DeltaWork& work : works) run_slice(*net.kernels, shape, work, slice, state);
  };
  net.pool->run(shape.value_head_count * slice_count, run_task);
}

}  // namespace adjudge
