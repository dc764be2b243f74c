#include "nn/matmul.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/size.h"

namespace adjudge {

namespace {

using kernel::Arithmetic;
using kernel::BlockInput;
using kernel::kBlockInputs;
using kernel::kPanelColumns;
using kernel::kPanelDepth;

// An f32 panel is the largest there is.
constexpr std::size_t kPanelFloats = std::size_t{kPanelColumns} * kPanelDepth;
constexpr int kPanelBlocks = kPanelDepth / kBlockInputs;
static_assert(kPanelFloats / 4 + 3 * kPanelBlocks * kPanelColumns <= kPanelFloats);
// Rows multiplied at a time: whole tiles of five, three and six rows, which int8 has, and nearly
// whole ones of twelve and eight; the last chunk takes what is over, so up to twice as many.
// Between chunks the next weights are asked for. Outputs narrower than a panel pass through a
// buffer of as many, in L1.
constexpr int kChunkRows = 30;
constexpr std::size_t kEdgeFloats = std::size_t{2 * kChunkRows} * kPanelColumns;
constexpr std::size_t kLineBytes = 64;
// A task is worth waking somebody for from about this many values on.
constexpr int kTaskValues = 1 << 14;

int panel_count(int columns) { return (columns + kPanelColumns - 1) / kPanelColumns; }

// The input of a group of products, in every arithmetic that one of them is computed in.
struct Input {
  Rows x;
  std::uint32_t* pairs = nullptr;  // (x.count, pair_stride)
  std::size_t pair_stride = 0;
  // Slices of kPanelBlocks blocks (the last may be shorter) of all rows, one after the other: what
  // is multiplied with a panel lies together.
  BlockInput* blocks = nullptr;

  // Blocks a row has in the slice of input k, and the first of them.
  std::size_t slice_blocks(int k) const {
    return at(std::min(kPanelDepth, x.width - k) / kBlockInputs);
  }
  BlockInput* slice(int k, int row) const {
    return blocks + at(k / kBlockInputs) * at(x.count) + at(row) * slice_blocks(k);
  }
};

// Some rows of a matrix in its file format, and how they are multiplied.
struct WeightRows {
  Arithmetic arithmetic;
  gguf::DType type;
  const std::byte* bytes;
  std::size_t row_bytes;
  int count;                    // at most kPanelColumns
  const std::byte* next_bytes;  // of the rows the worker will probably multiply with next; or null
};

// Inputs [begin, begin + depth) of some weight rows, decoded to a panel.
class Panel {
 public:
  // `room` is kPanelFloats.
  Panel(const kernel::Table& kernels, const WeightRows& weights, float* room)
      : kernels_(kernels), weights_(weights), room_(room) {
    blocks_.scales = room;
    blocks_.offsets = room + 2 * kPanelBlocks * kPanelColumns;
    blocks_.codes =
        reinterpret_cast<std::uint8_t*>(room + std::size_t{3} * kPanelBlocks * kPanelColumns);
  }

  void fill(int begin, int depth) {
    begin_ = begin;
    depth_ = depth;
    const auto type = static_cast<std::size_t>(weights_.type);
    const auto fill_with = [&](auto entry, auto&& panel) {
      entry(weights_.bytes, weights_.row_bytes, weights_.count, begin, depth, panel);
    };
    if (weights_.arithmetic == Arithmetic::int8) {
      fill_with(kernels_.fill_blocks[type], blocks_);
    } else if (weights_.arithmetic == Arithmetic::bf16) {
      fill_with(kernels_.fill_pairs[type], pairs());
    } else {
      fill_with(kernels_.fill_panel[type], room_);
    }
  }

  // kPanelColumns outputs of rows [row, row + count).
  void multiply(const Input& input, int row, int count, float* out, std::size_t out_stride) const {
    const bool accumulate = begin_ > 0;
    if (weights_.arithmetic == Arithmetic::int8) {
      kernels_.multiply_blocks(input.slice(begin_, row), input.slice_blocks(begin_), count, blocks_,
                               kernel::block_form(weights_.type), depth_ / kBlockInputs, out,
                               out_stride, accumulate);
    } else if (weights_.arithmetic == Arithmetic::bf16) {
      const std::uint32_t* x = input.pairs + at(row) * input.pair_stride + begin_ / 2;
      kernels_.multiply_pairs(x, input.pair_stride, count, pairs(), (depth_ + 1) / 2, out,
                              out_stride, accumulate);
    } else {
      kernels_.multiply_panel(input.x.row(row) + begin_, input.x.stride, count, room_, depth_, out,
                              out_stride, accumulate);
    }
  }

 private:
  std::uint32_t* pairs() const { return reinterpret_cast<std::uint32_t*>(room_); }

  const kernel::Table& kernels_;
  const WeightRows& weights_;
  float* room_;
  kernel::BlockPanel blocks_{};  // in room_
  int begin_ = 0;
  int depth_ = 0;
};

// Rows [row, row + count) of `out`. A panel writes kPanelColumns values per row; where the output
// ends earlier they go by the buffer.
void multiply_chunk(const Panel& panel, const Input& input, int row, int count, const Rows& out,
                    float* buffer) {
  if (out.width == kPanelColumns) {
    panel.multiply(input, row, count, out.row(row), out.stride);
    return;
  }
  const std::size_t bytes = at(out.width) * sizeof(float);
  for (int i = 0; i < count; ++i) {
    std::memcpy(buffer + at(i) * kPanelColumns, out.row(row + i), bytes);
  }
  panel.multiply(input, row, count, buffer, kPanelColumns);
  for (int i = 0; i < count; ++i) {
    std::memcpy(out.row(row + i), buffer + at(i) * kPanelColumns, bytes);
  }
}

// The weights a worker decodes after those it multiplies with, in the file.
struct Upcoming {
  const std::byte* bytes = nullptr;  // rows, row_bytes apart
  std::size_t row_bytes = 0;
  std::size_t depth_bytes = 0;  // wanted of each
  int count = 0;

  // Asks the memory for rows [begin, end) of them.
  void prefetch(int begin, int end) const {
    for (int row = begin; row < end && row < count; ++row) {
      const std::byte* line = bytes + at(row) * row_bytes;
      for (std::size_t i = 0; i < depth_bytes; i += kLineBytes) __builtin_prefetch(line + i, 0, 2);
    }
  }
};

// What follows inputs [.., end) of the weights: their next slice, or the first one of the next
// rows.
Upcoming upcoming(const WeightRows& weights, int end, int width) {
  const gguf::DTypeTraits& traits = gguf::traits_of(weights.type);
  const std::byte* bytes = end < width ? weights.bytes : weights.next_bytes;
  if (bytes == nullptr) return {};
  const int begin = end < width ? end : 0;
  const int depth = std::min(kPanelDepth, width - begin);
  return {bytes + at(begin / traits.block_values * traits.block_bytes), weights.row_bytes,
          at(depth / traits.block_values * traits.block_bytes), weights.count};
}

// out (input.x.count, weights.count) = the input times the transposed weights. `scratch` is
// kPanelFloats + kEdgeFloats.
void multiply_rows(const kernel::Table& kernels, const Input& input, const WeightRows& weights,
                   const Rows& out, float* scratch) {
  const int width = input.x.width;
  const int chunk_count = std::max(1, out.count / kChunkRows);
  const int share = (weights.count + chunk_count - 1) / chunk_count;
  Panel panel(kernels, weights, scratch);
  for (int begin = 0; begin < width; begin += kPanelDepth) {
    const int end = std::min(width, begin + kPanelDepth);
    panel.fill(begin, end - begin);
    const Upcoming next = upcoming(weights, end, width);
    for (int chunk = 0; chunk < chunk_count; ++chunk) {
      next.prefetch(chunk * share, (chunk + 1) * share);
      const int row = chunk * kChunkRows;
      const int count = chunk + 1 < chunk_count ? kChunkRows : out.count - row;
      multiply_chunk(panel, input, row, count, out, scratch + kPanelFloats);
    }
  }
}

// Columns [begin, begin + kPanelColumns) of `out`, or what there is of them.
Rows panel_of(const Rows& out, int begin) {
  return {out.data + begin, out.count, std::min(kPanelColumns, out.width - begin), out.stride};
}

Arithmetic arithmetic_of(const NetContext& net, const Product& product) {
  return product.exact ? Arithmetic::f32
                       : arithmetic_of(*net.kernels, net.precision, product.matrix->type);
}

// Room in the crew's shared scratch for the rounded input; nothing is rounded yet.
Input place_input(const NetContext& net, const Rows& x, bool in_pairs, bool in_blocks) {
  Input input{.x = x};
  input.pair_stride = in_pairs ? at(x.width + 1) / 2 : 0;
  const std::size_t block_floats =
      in_blocks ? at(x.width / kBlockInputs) * sizeof(BlockInput) / sizeof(float) : 0;
  float* room = net.pool->shared_scratch(at(x.count) * (input.pair_stride + block_floats));
  input.blocks = reinterpret_cast<BlockInput*>(room);
  input.pairs = reinterpret_cast<std::uint32_t*>(room + at(x.count) * block_floats);
  return input;
}

// Rounds every row once, for all products of the group.
Input round_input(const NetContext& net, const Rows& x, std::span<const Product> products) {
  const auto computes_in = [&](Arithmetic arithmetic) {
    return std::ranges::any_of(products, [&](const Product& product) {
      return arithmetic_of(net, product) == arithmetic;
    });
  };
  const bool in_pairs = computes_in(Arithmetic::bf16), in_blocks = computes_in(Arithmetic::int8);
  if (!in_pairs && !in_blocks) return {.x = x};
  const Input input = place_input(net, x, in_pairs, in_blocks);
  const int grain = std::max(1, kTaskValues / x.width);
  const auto round_rows = [&](int index, int) {
    const int end = std::min(x.count, (index + 1) * grain);
    for (int row = index * grain; row < end; ++row) {
      if (in_pairs) {
        net.kernels->round_pairs(x.row(row), x.width, input.pairs + at(row) * input.pair_stride);
      }
      for (int k = 0; in_blocks && k < x.width; k += kPanelDepth) {
        const int depth = std::min(kPanelDepth, x.width - k);
        net.kernels->quantise(x.row(row) + k, depth, input.slice(k, row));
      }
    }
  };
  net.pool->run((x.count + grain - 1) / grain, round_rows);
  return input;
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
  const Input input = round_input(net, x, products);
  const auto multiply_one = [&](int index, int worker) {
    const Product* product = products.data();
    for (; index >= panel_count(product->out.width); ++product) {
      index -= panel_count(product->out.width);
    }
    const Matrix& matrix = *product->matrix;
    const int begin = index * kPanelColumns;
    const Rows out = panel_of(product->out, begin);
    const std::byte* bytes = net.weights->acquire(matrix, begin, out.width);
    // Workers take panels in turns, so far the same number each.
    const int next = begin + net.pool->thread_count() * kPanelColumns;
    const std::byte* next_bytes =
        next + kPanelColumns <= matrix.rows ? bytes + at(next - begin) * matrix.row_bytes : nullptr;
    multiply_rows(
        *net.kernels, input,
        {arithmetic_of(net, *product), matrix.type, bytes, matrix.row_bytes, out.width, next_bytes},
        out, net.pool->scratch(worker, kPanelFloats + kEdgeFloats));
    net.weights->release(matrix, begin, out.width);
  };
  net.pool->run(task_count, multiply_one);
}

void multiply_selected(const NetContext& net, const Rows& x, const Matrix& matrix,
                       std::span<const int> selected, const Rows& out) {
  CHECK(matrix.columns == x.width && count_of(selected) == out.width && out.count == x.count);
  if (x.count == 0) return;
  // The selected rows are brought together as they are, so their bits are those of an exact
  // product.
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
    multiply_rows(*net.kernels, {.x = x},
                  {Arithmetic::f32, matrix.type, stored, matrix.row_bytes, columns.width, nullptr},
                  columns, scratch);
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
