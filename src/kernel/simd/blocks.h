// Block-exact int8 (kernel/blocks.h), written in a level's lanes: its lanes.h and what its
// BlockLanes add, dot products of four bytes. Everything is static or unnamed: units of several
// levels include this and must share nothing.
#pragma once

#include "kernel/simd/codes.h"
#include "kernel/simd/turn.h"
#include "kernel/table.h"

namespace adjudge::kernel {

namespace {

inline constexpr int kBlocksMax = kPanelDepth / kBlockInputs;

// The rows of a panel, V::kCount at a time, before they are turned. Lines end one cache line late,
// or they would share a few sets of L1.
template <class V>
struct CodeRows {
  static constexpr int kCodeStride = kPanelDepth / 4 + 16;  // words of four codes
  static constexpr int kScaleStride = 2 * kBlocksMax + 16;

  alignas(64) std::int8_t codes[V::kCount * kCodeStride * 4];
  alignas(64) float scales[V::kCount * kScaleStride];
  alignas(64) float offsets[V::kCount * kScaleStride];
};

// Levels that take a vector's codes of a format from its blocks straight into a register.
template <class V, class Block>
concept LoadsCodes = requires(const Block* row) { V::load_codes(row, 0); };

// Turns the codes of up to V::kCount rows; row_of(lane). Of those that are missing any codes will
// do, as their scales are zero.
template <class V, class Tile, class Block, class RowOf>
void turn_codes(int lanes, int depth, const RowOf& row_of, CodeRows<V>& read, std::uint8_t* panel) {
  constexpr int kLoaded = 4 * V::kCount;
  if constexpr (LoadsCodes<V, Block>) {
    if (depth % kLoaded == 0) {
      Tile::turn_codes(depth, panel, [&](int lane, int k) {
        return V::load_codes(row_of(lane < lanes ? lane : 0), k);
      });
      return;
    }
  }
  constexpr int kStride = 4 * CodeRows<V>::kCodeStride;
  for (int lane = 0; lane < V::kCount; ++lane) {
    CodeReader<V>::read_row(row_of(lane < lanes ? lane : 0), depth, read.codes + lane * kStride);
  }
  Tile::turn_codes(read.codes, kStride, depth, panel);
}

// Turns the scales (and offsets) of up to V::kCount rows; of those that are missing they are zero.
template <class V, class Block, BlockForm form, class RowOf>
void turn_scales(int lanes, int depth, const RowOf& row_of, CodeRows<V>& read, float* scales,
                 float* offsets) {
  constexpr int kStride = CodeRows<V>::kScaleStride;
  for (int lane = 0; lane < V::kCount; ++lane) {
    float* own_scales = read.scales + lane * kStride;
    float* own_offsets = read.offsets + lane * kStride;
    if (lane < lanes) {
      CodeReader<V>::read_row_scales(row_of(lane), depth, form.part_count, own_scales, own_offsets);
    } else {
      std::memset(own_scales, 0, sizeof(float) * kStride);
      std::memset(own_offsets, 0, sizeof(float) * kStride);
    }
  }
  turn<V>(read.scales, kStride, depth / kBlockInputs * form.part_count, scales);
  if constexpr (form.has_offsets) turn<V>(read.offsets, kStride, depth / kBlockInputs, offsets);
}

// The same for formats with one half a block, which become floats as vectors.
template <class V, class Block, class RowOf>
void turn_halves(int lanes, int depth, const RowOf& row_of, float* scales) {
  alignas(64) std::uint16_t halves[kBlocksMax][V::kCount] = {};
  const int block_count = depth / kBlockInputs;
  for (int lane = 0; lane < lanes; ++lane) {
    const Block* row = row_of(lane);
    for (int block = 0; block < block_count; ++block) halves[block][lane] = row[block].scale;
  }
  for (int block = 0; block < block_count; ++block, scales += kPanelColumns) {
    V::store(scales, V::load_half(halves[block]));
  }
}

template <class V, class Tile, class Block, gguf::DType type>
void fill_blocks(const std::byte* rows, std::size_t row_bytes, int columns, int begin, int depth,
                 const BlockPanel& panel) {
  constexpr BlockForm kForm = block_form(type);
  CodeRows<V> read;
  rows += static_cast<std::size_t>(begin / Block::kValues) * sizeof(Block);
  for (int column = 0; column < kPanelColumns; column += V::kCount) {
    const int lanes = columns - column < V::kCount ? columns - column : V::kCount;
    const auto row_of = [=](int lane) {
      const auto row = static_cast<std::size_t>(column + lane);
      return reinterpret_cast<const Block*>(rows + row * row_bytes);
    };
    if constexpr (Block::kValues == kBlockInputs && !kForm.has_offsets) {
      turn_halves<V, Block>(lanes, depth, row_of, panel.scales + column);
    } else {
      turn_scales<V, Block, kForm>(lanes, depth, row_of, read, panel.scales + column,
                                   panel.offsets + column);
    }
    if (lanes > 0) {
      turn_codes<V, Tile, Block>(lanes, depth, row_of, read, panel.codes + Tile::kRun * column);
    }
  }
}

// A block by `largest` / 127; a block of (almost) nothing becomes zeros, so that no quotient
// overflows; one with a NaN or an infinity gets a scale that shows it.
template <class V>
void quantise_block(const float* x, BlockInput& block) {
  typename V::Ints most = V::all_bits(0);
  for (int i = 0; i < kBlockInputs; i += V::kCount) {
    most = V::max_bits(most, V::bits_and(V::ints_of(V::load(x + i)), V::all_bits(0x7fffffffu)));
  }
  const float largest = V::largest_bits(most);
  block.scale = largest / 127.0f;
  if (!(largest <= 0x1.fffffep127f)) {  // no number, or too large for one: codes would overflow
    block = BlockInput{.scale = block.scale, .sum = block.scale};
    return;
  }
  const auto factor = V::all(largest < 0x1p-100f ? 0.0f : 127.0f / largest);
  std::int32_t sums[2] = {};
  for (int i = 0; i < kBlockInputs; i += V::kCount) {
    const typename V::Ints codes = V::rounded(V::mul(V::load(x + i), factor));
    V::store_i8(block.values + i, codes);
    sums[i / 16] += V::sum_ints(codes);
  }
  block.bases[0] = -128 * sums[0];
  block.bases[1] = -128 * sums[1];
  block.bases[2] = -128 * (sums[0] + sums[1]);
  block.sum = block.scale * static_cast<float>(sums[0] + sums[1]);
}

// As many blocks as a vector has lanes: their largest values and their sums are found side by side.
// The same bits as quantise_block's; codes are small enough for exact sums of floats.
template <class V>
void quantise_blocks(const float* x, BlockInput* blocks) {
  using Floats = typename V::Floats;
  Floats sizes[V::kCount];
  for (int block = 0; block < V::kCount; ++block) {
    typename V::Ints most = V::all_bits(0);
    for (int i = 0; i < kBlockInputs; i += V::kCount) {
      const auto bits = V::ints_of(V::load(x + block * kBlockInputs + i));
      most = V::max_bits(most, V::bits_and(bits, V::all_bits(0x7fffffffu)));
    }
    sizes[block] = V::as_floats(most);
  }
  const Floats largest = V::combine_lanes(sizes, [](Floats a, Floats b) {
    return V::as_floats(V::max_bits(V::ints_of(a), V::ints_of(b)));
  });
  if (!(V::largest_bits(V::ints_of(largest)) <= 0x1.fffffep127f)) {
    for (int block = 0; block < V::kCount; ++block) {
      quantise_block<V>(x + block * kBlockInputs, blocks[block]);
    }
    return;
  }
  alignas(64) float largest_of[V::kCount], scales[V::kCount], factors[V::kCount];
  V::store(largest_of, largest);
  V::store(scales, V::div(largest, V::all(127.0f)));
  V::store(factors, V::div(V::all(127.0f), largest));
  Floats sums[2][V::kCount];  // of the first 16 values of each block, and of the last
  for (int block = 0; block < V::kCount; ++block, x += kBlockInputs) {
    const auto factor = V::all(largest_of[block] < 0x1p-100f ? 0.0f : factors[block]);
    sums[0][block] = sums[1][block] = V::zero();
    for (int i = 0; i < kBlockInputs; i += V::kCount) {
      const typename V::Ints codes = V::rounded(V::mul(V::load(x + i), factor));
      V::store_i8(blocks[block].values + i, codes);
      sums[i / 16][block] = V::add(sums[i / 16][block], V::floats(codes));
    }
  }
  const Floats left = V::combine_lanes(sums[0], V::add), right = V::combine_lanes(sums[1], V::add);
  const Floats both = V::add(left, right);
  alignas(64) float sums_of[V::kCount];
  alignas(64) std::int32_t bases[3][V::kCount];
  V::store(sums_of, V::mul(V::load(scales), both));
  const Floats values[] = {left, right, both};
  for (int i = 0; i < 3; ++i) {
    V::store_ints(bases[i], V::rounded(V::mul(values[i], V::all(-128.0f))));
  }
  for (int block = 0; block < V::kCount; ++block) {
    BlockInput& to = blocks[block];
    to.scale = scales[block];
    to.sum = sums_of[block];
    for (int i = 0; i < 3; ++i) to.bases[i] = bases[i][block];
  }
}

template <class V>
void quantise(const float* x, int count, BlockInput* blocks) {
  constexpr int kTogether = V::kCount * kBlockInputs;
  int i = 0;
  for (; i + kTogether <= count; i += kTogether, blocks += V::kCount) {
    quantise_blocks<V>(x + i, blocks);
  }
  for (; i < count; i += kBlockInputs) quantise_block<V>(x + i, *blocks++);
}

// The same block of a tile's row.
inline const BlockInput& block_of(const BlockInput* x, std::size_t x_stride, int row) {
  return x[static_cast<std::size_t>(row) * x_stride];
}

// The dot products of a tile; each word of four inputs is spread over a vector. Codes lie as
// (inputs / 4, column, 4).
template <class V>
struct SpreadWords {
  static constexpr int kRun = 4;

  template <int kWords, int kRowCount>
  static void add_dots(const BlockInput* x, std::size_t x_stride, int first_word,
                       const std::uint8_t* codes,
                       typename V::Dots (&dots)[kRowCount][V::kBlockVectors]) {
    using Ints = typename V::Ints;
    for (int word = 0; word < kWords; ++word, codes += 4 * kPanelColumns) {
      Ints weights[V::kBlockVectors];
      for (int j = 0; j < V::kBlockVectors; ++j) {
        weights[j] = V::load_ints(codes + 4 * j * V::kCount);
      }
      for (int row = 0; row < kRowCount; ++row) {
        const Ints input =
            V::all_words(block_of(x, x_stride, row).values + 4 * (first_word + word));
        for (int j = 0; j < V::kBlockVectors; ++j) V::add_dot(weights[j], input, dots[row][j]);
      }
      if (word != 3) continue;
      for (int row = 0; row < kRowCount; ++row) {
        for (int j = 0; j < V::kBlockVectors; ++j) V::pause_dot(dots[row][j]);
      }
    }
  }
};

// Some rows by V::kBlockVectors vectors of columns. An output is one chain over blocks and their
// parts, so its bits know nothing of the row count.
template <class V, class Words = SpreadWords<V>>
struct BlockTile {
  static constexpr int kRows = V::kBlockRows;
  static constexpr int kColumns = V::kBlockVectors * V::kCount;
  static constexpr int kRun = Words::kRun;  // codes of a column that lie side by side

  // load(lane, k): codes [k, k + 4 * V::kCount) of a column.
  template <class Load>
  static void turn_codes(int depth, std::uint8_t* panel, const Load& load) {
    turn<V>(depth / 4, panel, [&](int lane, int word) {
      return V::flip_bits(load(lane, 4 * word), 0x01010101u * V::kCodeFlip);
    });
  }
  static void turn_codes(const std::int8_t* codes, int stride, int depth, std::uint8_t* panel) {
    turn_codes(depth, panel, [=](int lane, int k) { return V::load(codes + lane * stride + k); });
  }

  template <int kParts, bool kOffsets, int kRowCount>
  static void multiply(const BlockInput* x, std::size_t x_stride, BlockPanel panel, int block_count,
                       float* out, std::size_t out_stride, bool accumulate) {
    using Floats = typename V::Floats;
    constexpr int kWords = kBlockInputs / 4 / kParts;
    constexpr int kVectors = V::kBlockVectors;
    Sums<kRowCount> sums;
    start(sums, out, out_stride, accumulate);
    for (int block = 0; block < block_count; ++block, ++x) {
      for (int part = 0; part < kParts; ++part, panel.scales += kPanelColumns) {
        typename V::Dots dots[kRowCount][kVectors];
        for (int row = 0; row < kRowCount; ++row) {
          for (int j = 0; j < kVectors; ++j)
            dots[row][j] = V::start(block_of(x, x_stride, row), kParts == 1 ? 2 : part);
        }
        Words::template add_dots<kWords>(x, x_stride, part * kWords, panel.codes, dots);
        panel.codes += 4 * kWords * kPanelColumns;
        for (int row = 0; row < kRowCount; ++row) {
          const Floats scale = V::all(block_of(x, x_stride, row).scale);
          for (int j = 0; j < kVectors; ++j) {
            const Floats scaled =
                V::mul(V::floats(V::total(dots[row][j])), V::load(panel.scales + j * V::kCount));
            sums[row][j] = V::fma(scaled, scale, sums[row][j]);
          }
        }
      }
      if constexpr (kOffsets) {
        for (int row = 0; row < kRowCount; ++row) {
          const Floats sum = V::all(block_of(x, x_stride, row).sum);
          for (int j = 0; j < kVectors; ++j) {
            sums[row][j] = V::fma(V::load(panel.offsets + j * V::kCount), sum, sums[row][j]);
          }
        }
        panel.offsets += kPanelColumns;
      }
    }
    put(sums, out, out_stride);
  }

 private:
  template <int kRowCount>
  using Sums = typename V::Floats[kRowCount][V::kBlockVectors];

  // Neither of the two is a loop: indexed by one, g++ 12 would keep the sums in memory too.
  template <int kRowCount, int kIndex = 0>
  static void start(Sums<kRowCount>& sums, const float* out, std::size_t out_stride, bool given) {
    constexpr int kRow = kIndex / V::kBlockVectors, kVector = kIndex % V::kBlockVectors;
    sums[kRow][kVector] =
        given ? V::load(out + kRow * out_stride + kVector * V::kCount) : V::zero();
    if constexpr (kIndex + 1 < kRowCount * V::kBlockVectors) {
      start<kRowCount, kIndex + 1>(sums, out, out_stride, given);
    }
  }
  template <int kRowCount, int kIndex = 0>
  static void put(const Sums<kRowCount>& sums, float* out, std::size_t out_stride) {
    constexpr int kRow = kIndex / V::kBlockVectors, kVector = kIndex % V::kBlockVectors;
    V::store(out + kRow * out_stride + kVector * V::kCount, sums[kRow][kVector]);
    if constexpr (kIndex + 1 < kRowCount * V::kBlockVectors) {
      put<kRowCount, kIndex + 1>(sums, out, out_stride);
    }
  }
};

using MultiplyBlockTile = void (*)(const BlockInput*, std::size_t, BlockPanel, int, float*,
                                   std::size_t, bool);

// Tile::multiply for 1 to Tile::kRows rows.
template <class Tile, int kParts, bool kOffsets>
struct BlockTiles {
  MultiplyBlockTile of_rows[Tile::kRows + 1] = {};
  template <int kRowCount>
  constexpr void add() {
    of_rows[kRowCount] = Tile::template multiply<kParts, kOffsets, kRowCount>;
    if constexpr (kRowCount > 1) add<kRowCount - 1>();
  }
  constexpr BlockTiles() { add<Tile::kRows>(); }
};

// Unsigned is Tile, or what multiplies the codes of formats with offsets, which are never negative.
template <class Tile, class Unsigned>
void multiply_blocks(const BlockInput* x, std::size_t x_stride, int rows, const BlockPanel& panel,
                     BlockForm form, int block_count, float* out, std::size_t out_stride,
                     bool accumulate) {
  static constexpr BlockTiles<Tile, 1, false> kWhole;
  static constexpr BlockTiles<Tile, 2, false> kHalves;
  static constexpr BlockTiles<Unsigned, 1, true> kUnsigned;
  const MultiplyBlockTile* of_rows = form.has_offsets       ? kUnsigned.of_rows
                                     : form.part_count == 1 ? kWhole.of_rows
                                                            : kHalves.of_rows;
  for (int tiles = (rows + Tile::kRows - 1) / Tile::kRows; tiles > 0; --tiles) {
    const int count = (rows + tiles - 1) / tiles;
    for (int column = 0; column < kPanelColumns; column += Tile::kColumns) {
      const BlockPanel columns{panel.codes + Tile::kRun * column, panel.scales + column,
                               panel.offsets + column};
      of_rows[count](x, x_stride, columns, block_count, out + column, out_stride, accumulate);
    }
    x += static_cast<std::size_t>(count) * x_stride;
    out += static_cast<std::size_t>(count) * out_stride;
    rows -= count;
  }
}

template <class V, class Tile, class Block, gguf::DType type>
void set_fill_blocks(Table& table) {
  table.fill_blocks[static_cast<int>(type)] = fill_blocks<V, Tile, Block, type>;
}

template <class V, class Tile = BlockTile<V>, class Unsigned = Tile>
void improve_blocks(Table& table) {
  using gguf::DType;
  set_fill_blocks<V, Tile, gguf::BlockQ4_0, DType::q4_0>(table);
  set_fill_blocks<V, Tile, gguf::BlockQ4_1, DType::q4_1>(table);
  set_fill_blocks<V, Tile, gguf::BlockQ5_0, DType::q5_0>(table);
  set_fill_blocks<V, Tile, gguf::BlockQ5_1, DType::q5_1>(table);
  set_fill_blocks<V, Tile, gguf::BlockQ8_0, DType::q8_0>(table);
  set_fill_blocks<V, Tile, gguf::BlockQ4_K, DType::q4_K>(table);
  set_fill_blocks<V, Tile, gguf::BlockQ5_K, DType::q5_K>(table);
  set_fill_blocks<V, Tile, gguf::BlockQ6_K, DType::q6_K>(table);
  set_fill_blocks<V, Tile, gguf::BlockIq4Nl, DType::iq4_nl>(table);
  set_fill_blocks<V, Tile, gguf::BlockIq4Xs, DType::iq4_xs>(table);
  table.quantise = quantise<V>;
  table.multiply_blocks = multiply_blocks<Tile, Unsigned>;
  table.fast_int8 = true;
}

}  // namespace

}  // namespace adjudge::kernel
