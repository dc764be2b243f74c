// Filling and multiplying weight panels, written in a level's lanes (its lanes.h).
// Everything is static or unnamed: units of several levels include this and must share nothing.
#pragma once

#include "kernel/simd/decode.h"
#include "kernel/table.h"

namespace adjudge::kernel {

namespace {

// Rows are decoded this far before they are turned: the largest block.
constexpr int kTurnDepth = 256;
static_assert(kPanelDepth % kTurnDepth == 0);

// Turns (V::kCount rows, depth) at `values` into `panel`, V::kCount columns wide.
template <class V>
void turn(const float* values, std::size_t stride, int depth, float* panel) {
  for (int k = 0; k < depth; k += V::kCount) {
    typename V::Floats tile[V::kCount];
    for (int lane = 0; lane < V::kCount; ++lane) {
      tile[lane] = V::load(values + static_cast<std::size_t>(lane) * stride + k);
    }
    V::transpose(tile);
    const int count = depth - k < V::kCount ? depth - k : V::kCount;
    for (int i = 0; i < count; ++i) V::store(panel + (k + i) * kPanelColumns, tile[i]);
  }
}

template <class V, class RowDecoder, class Block>
void fill_panel(const std::byte* rows, std::size_t row_bytes, int columns, int begin, int depth,
                float* panel) {
  // One cache line more than the depth, or the rows' lines would share a few sets of L1. Also what
  // the last turn may read past an odd depth.
  constexpr int kStride = kTurnDepth + 16;
  static_assert(V::kCount <= 16);
  alignas(64) float values[V::kCount * kStride] = {};
  for (int column = 0; column < kPanelColumns; column += V::kCount, panel += V::kCount) {
    for (int k = 0; k < depth; k += kTurnDepth) {
      const int count = depth - k < kTurnDepth ? depth - k : kTurnDepth;
      const auto offset = static_cast<std::size_t>((begin + k) / Block::kValues) * sizeof(Block);
      for (int lane = 0; lane < V::kCount; ++lane) {
        float* out = values + lane * kStride;
        if (column + lane < columns) {
          const auto row = static_cast<std::size_t>(column + lane);
          RowDecoder::template decode_row<Block>(rows + row * row_bytes + offset, count, out);
        } else {
          for (int i = 0; i < count; ++i) out[i] = 0;
        }
      }
      turn<V>(values, kStride, count, panel + k * kPanelColumns);
    }
  }
}

// kRows rows by two vectors of columns, in registers for the whole depth. Every output is one chain
// of multiply-adds along k, so its bits know nothing of kRows.
template <class V, int kRows>
void multiply_tile(const float* x, std::size_t x_stride, const float* panel, int depth, float* out,
                   std::size_t out_stride, bool accumulate) {
  typename V::Floats sums[kRows][2];
  for (int row = 0; row < kRows; ++row) sums[row][0] = sums[row][1] = V::zero();
  for (int k = 0; k < depth; ++k, panel += kPanelColumns) {
    const typename V::Floats left = V::load(panel), right = V::load(panel + V::kCount);
    for (int row = 0; row < kRows; ++row) {
      const typename V::Floats input = V::all(x[static_cast<std::size_t>(row) * x_stride + k]);
      sums[row][0] = V::fma(input, left, sums[row][0]);
      sums[row][1] = V::fma(input, right, sums[row][1]);
    }
  }
  for (int row = 0; row < kRows; ++row) {
    float* to = out + static_cast<std::size_t>(row) * out_stride;
    if (accumulate) {
      sums[row][0] = V::add(V::load(to), sums[row][0]);
      sums[row][1] = V::add(V::load(to + V::kCount), sums[row][1]);
    }
    V::store(to, sums[row][0]);
    V::store(to + V::kCount, sums[row][1]);
  }
}

using MultiplyTile = void (*)(const float*, std::size_t, const float*, int, float*, std::size_t,
                              bool);

// multiply_tile for 1 to V::kTileRows rows.
template <class V>
struct Tiles {
  MultiplyTile of_rows[V::kTileRows + 1] = {};
  template <int kRows>
  constexpr void add() {
    of_rows[kRows] = multiply_tile<V, kRows>;
    if constexpr (kRows > 1) add<kRows - 1>();
  }
  constexpr Tiles() { add<V::kTileRows>(); }
};

template <class V>
void multiply_panel(const float* x, std::size_t x_stride, int rows, const float* panel, int depth,
                    float* out, std::size_t out_stride, bool accumulate) {
  static constexpr Tiles<V> kTiles;
  // Tiles of nearly one size: 13 rows are 7 and 6, as a tile of one would wait for its own sums.
  for (int tiles = (rows + V::kTileRows - 1) / V::kTileRows; tiles > 0; --tiles) {
    const int count = (rows + tiles - 1) / tiles;
    for (int column = 0; column < kPanelColumns; column += 2 * V::kCount) {
      kTiles.of_rows[count](x, x_stride, panel + column, depth, out + column, out_stride,
                            accumulate);
    }
    x += static_cast<std::size_t>(count) * x_stride;
    out += static_cast<std::size_t>(count) * out_stride;
    rows -= count;
  }
}

template <class V>
void improve_panels(Table& table) {
  const auto set = [&](gguf::DType type, FillPanel fill) {
    table.fill_panel[static_cast<int>(type)] = fill;
  };
  using gguf::DType;
  set(DType::f32, fill_panel<V, PlainDecoder<V>, gguf::BlockF32>);
  set(DType::f16, fill_panel<V, PlainDecoder<V>, gguf::BlockF16>);
  set(DType::bf16, fill_panel<V, PlainDecoder<V>, gguf::BlockBf16>);
  set(DType::q4_0, fill_panel<V, Decoder<V>, gguf::BlockQ4_0>);
  set(DType::q4_1, fill_panel<V, Decoder<V>, gguf::BlockQ4_1>);
  set(DType::q5_0, fill_panel<V, Decoder<V>, gguf::BlockQ5_0>);
  set(DType::q5_1, fill_panel<V, Decoder<V>, gguf::BlockQ5_1>);
  set(DType::q8_0, fill_panel<V, Decoder<V>, gguf::BlockQ8_0>);
  set(DType::q4_K, fill_panel<V, Decoder<V>, gguf::BlockQ4_K>);
  set(DType::q5_K, fill_panel<V, Decoder<V>, gguf::BlockQ5_K>);
  set(DType::q6_K, fill_panel<V, Decoder<V>, gguf::BlockQ6_K>);
  set(DType::iq4_nl, fill_panel<V, Decoder<V>, gguf::BlockIq4Nl>);
  set(DType::iq4_xs, fill_panel<V, Decoder<V>, gguf::BlockIq4Xs>);
  table.multiply_panel = multiply_panel<V>;
}

}  // namespace

}  // namespace adjudge::kernel
