// Filling and multiplying weight panels, written in a level's lanes (its lanes.h).
// Everything is static or unnamed: units of several levels include this and must share nothing.
#pragma once

#include <cstring>

#include "kernel/simd/decode.h"
#include "kernel/simd/turn.h"

namespace adjudge::kernel {

namespace {

// Rows are decoded this far before they are turned: the largest block.
constexpr int kTurnDepth = 256;
static_assert(kPanelDepth % kTurnDepth == 0);

// Rounds to bfloat16, two values to a word; behind an odd count stands a zero.
template <class V>
void round_pairs(const float* x, int count, std::uint32_t* out) {
  constexpr int kValues = 2 * V::kCount;
  int i = 0;
  for (; i + kValues <= count; i += kValues) {
    V::store_pairs(out + i / 2, V::load(x + i), V::load(x + i + V::kCount));
  }
  if (i == count) return;
  float values[kValues] = {};
  std::uint32_t words[V::kCount];
  for (int j = 0; i + j < count; ++j) values[j] = x[i + j];
  V::store_pairs(words, V::load(values), V::load(values + V::kCount));
  std::memcpy(out + i / 2, words, static_cast<std::size_t>(count - i + 1) / 2 * sizeof(words[0]));
}

// What a product is made of, step by step along the inner dimension: one input of f32 at a time.
template <class V>
struct SingleTerms {
  using Word = float;
  static constexpr int kInputs = 1;  // in a word
  static typename V::Floats spread(const float* x) { return V::all(*x); }
  static typename V::Floats add(typename V::Floats input, typename V::Floats weights,
                                typename V::Floats sum) {
    return V::fma(input, weights, sum);
  }
  static void pack(float*, int) {}
};

// ... or two of bfloat16, in levels that multiply them.
template <class V>
struct PairTerms {
  using Word = std::uint32_t;
  static constexpr int kInputs = 2;
  static typename V::Floats spread(const std::uint32_t* x) { return V::all_pairs(*x); }
  static typename V::Floats add(typename V::Floats input, typename V::Floats weights,
                                typename V::Floats sum) {
    return V::add_pairs(input, weights, sum);
  }
  // In place: words never overtake the values they are made of.
  static void pack(float* values, int count) {
    round_pairs<V>(values, count, reinterpret_cast<std::uint32_t*>(values));
  }
};

template <class V, class Terms, class RowDecoder, class Block>
void fill_panel(const std::byte* rows, std::size_t row_bytes, int columns, int begin, int depth,
                typename Terms::Word* panel) {
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
        Terms::pack(out, count);
      }
      const int words = (count + Terms::kInputs - 1) / Terms::kInputs;
      turn<V>(values, kStride, words, panel + k / Terms::kInputs * kPanelColumns);
    }
  }
}

// fill_panel for pairs of a format that holds them: they only change places. (Denormal numbers are
// not flushed here; the products do that.)
template <class V>
void fill_stored_pairs(const std::byte* rows, std::size_t row_bytes, int columns, int begin,
                       int depth, std::uint32_t* panel) {
  constexpr int kStride = kPanelDepth / 2 + 16;
  alignas(64) std::uint32_t words[V::kCount * kStride];
  const int word_count = (depth + 1) / 2;
  const auto bytes = static_cast<std::size_t>(depth) * sizeof(gguf::BlockBf16);
  rows += static_cast<std::size_t>(begin) * sizeof(gguf::BlockBf16);
  for (int column = 0; column < kPanelColumns; column += V::kCount) {
    const std::byte* first = rows + static_cast<std::size_t>(column) * row_bytes;
    if (columns >= column + V::kCount && depth % (2 * V::kCount) == 0) {
      turn<V>(word_count, panel + column, [=](int lane, int k) {
        return V::load(first + static_cast<std::size_t>(lane) * row_bytes + 4 * k);
      });
      continue;
    }
    for (int lane = 0; lane < V::kCount; ++lane) {
      std::uint32_t* out = words + lane * kStride;
      out[depth / 2] = 0;  // the second of a last pair
      if (column + lane < columns) {
        std::memcpy(out, first + static_cast<std::size_t>(lane) * row_bytes, bytes);
      } else {
        std::memset(out, 0, bytes);
      }
    }
    turn<V>(words, kStride, word_count, panel + column);
  }
}

// Some rows by two vectors of columns, in registers for the whole depth; each input is spread over
// a vector. Every output is one chain of multiply-adds along k, so its bits know nothing of the
// row count.
template <class V, class Terms>
struct SpreadTile {
  using Word = typename Terms::Word;
  static constexpr int kRows = V::kTileRows;
  static constexpr int kColumns = 2 * V::kCount;

  template <int kRowCount>
  static void multiply(const Word* x, std::size_t x_stride, const Word* panel, int depth,
                       float* out, std::size_t out_stride, bool accumulate) {
    typename V::Floats sums[kRowCount][2];
    for (int row = 0; row < kRowCount; ++row) sums[row][0] = sums[row][1] = V::zero();
    for (int k = 0; k < depth; ++k, panel += kPanelColumns) {
      const typename V::Floats left = V::load(panel), right = V::load(panel + V::kCount);
      for (int row = 0; row < kRowCount; ++row) {
        const typename V::Floats input =
            Terms::spread(x + static_cast<std::size_t>(row) * x_stride + k);
        sums[row][0] = Terms::add(input, left, sums[row][0]);
        sums[row][1] = Terms::add(input, right, sums[row][1]);
      }
    }
    for (int row = 0; row < kRowCount; ++row) {
      float* to = out + static_cast<std::size_t>(row) * out_stride;
      if (accumulate) {
        sums[row][0] = V::add(V::load(to), sums[row][0]);
        sums[row][1] = V::add(V::load(to + V::kCount), sums[row][1]);
      }
      V::store(to, sums[row][0]);
      V::store(to + V::kCount, sums[row][1]);
    }
  }
};

// Tile::multiply for 1 to Tile::kRows rows.
template <class Tile>
struct Tiles {
  using Word = typename Tile::Word;
  void (*of_rows[Tile::kRows + 1])(const Word*, std::size_t, const Word*, int, float*, std::size_t,
                                   bool) = {};
  template <int kRowCount>
  constexpr void add() {
    of_rows[kRowCount] = Tile::template multiply<kRowCount>;
    if constexpr (kRowCount > 1) add<kRowCount - 1>();
  }
  constexpr Tiles() { add<Tile::kRows>(); }
};

template <class Tile>
void multiply_panel(const typename Tile::Word* x, std::size_t x_stride, int rows,
                    const typename Tile::Word* panel, int depth, float* out, std::size_t out_stride,
                    bool accumulate) {
  static constexpr Tiles<Tile> kTiles;
  // Tiles of nearly one size: 13 rows are 7 and 6, as a tile of one would wait for its own sums.
  for (int tiles = (rows + Tile::kRows - 1) / Tile::kRows; tiles > 0; --tiles) {
    const int count = (rows + tiles - 1) / tiles;
    for (int column = 0; column < kPanelColumns; column += Tile::kColumns) {
      kTiles.of_rows[count](x, x_stride, panel + column, depth, out + column, out_stride,
                            accumulate);
    }
    x += static_cast<std::size_t>(count) * x_stride;
    out += static_cast<std::size_t>(count) * out_stride;
    rows -= count;
  }
}

// Sets fill[type] for every format.
template <class V, class Terms, class Fill>
void set_fills(Fill* fill) {
  const auto set = [=](gguf::DType type, Fill entry) { fill[static_cast<int>(type)] = entry; };
  using gguf::DType;
  set(DType::f32, fill_panel<V, Terms, PlainDecoder<V>, gguf::BlockF32>);
  set(DType::f16, fill_panel<V, Terms, PlainDecoder<V>, gguf::BlockF16>);
  set(DType::bf16, fill_panel<V, Terms, PlainDecoder<V>, gguf::BlockBf16>);
  set(DType::q4_0, fill_panel<V, Terms, Decoder<V>, gguf::BlockQ4_0>);
  set(DType::q4_1, fill_panel<V, Terms, Decoder<V>, gguf::BlockQ4_1>);
  set(DType::q5_0, fill_panel<V, Terms, Decoder<V>, gguf::BlockQ5_0>);
  set(DType::q5_1, fill_panel<V, Terms, Decoder<V>, gguf::BlockQ5_1>);
  set(DType::q8_0, fill_panel<V, Terms, Decoder<V>, gguf::BlockQ8_0>);
  set(DType::q4_K, fill_panel<V, Terms, Decoder<V>, gguf::BlockQ4_K>);
  set(DType::q5_K, fill_panel<V, Terms, Decoder<V>, gguf::BlockQ5_K>);
  set(DType::q6_K, fill_panel<V, Terms, Decoder<V>, gguf::BlockQ6_K>);
  set(DType::iq4_nl, fill_panel<V, Terms, Decoder<V>, gguf::BlockIq4Nl>);
  set(DType::iq4_xs, fill_panel<V, Terms, Decoder<V>, gguf::BlockIq4Xs>);
}

template <class V, class Tile = SpreadTile<V, SingleTerms<V>>>
void improve_panels(Table& table) {
  set_fills<V, SingleTerms<V>>(table.fill_panel);
  table.multiply_panel = multiply_panel<Tile>;
}

template <class V, class Tile = SpreadTile<V, PairTerms<V>>>
void improve_pairs(Table& table) {
  set_fills<V, PairTerms<V>>(table.fill_pairs);
  table.fill_pairs[static_cast<int>(gguf::DType::bf16)] = fill_stored_pairs<V>;
  table.round_pairs = round_pairs<V>;
  table.multiply_pairs = multiply_panel<Tile>;
  table.fast_bf16 = true;
}

}  // namespace

}  // namespace adjudge::kernel
