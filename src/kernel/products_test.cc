// The rounded products of every level this machine has, in bfloat16 and in whole numbers, against
// twins of the same arithmetic in double precision; and the law of table.h bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/size.h"
#include "gguf/half.h"
#include "kernel/stored_rows.h"
#include "kernel/table.h"
#include "support/support.h"

namespace adjudge::kernel {
namespace {

using testing::bell;
using Floats = std::vector<float>;

class Products : public ::testing::TestWithParam<const char*> {
 protected:
  const Table table = make_table(GetParam());
};

std::vector<const char*> levels() {
  const LevelNames available = available_levels();
  return {available.names, available.names + available.count};
}

double wide(float value) { return static_cast<double>(value); }

float rounded(float value) { return gguf::float_of_bf16(gguf::bf16_of_float(value)); }

float half_of_pair(std::uint32_t pair, int index) {
  return gguf::float_of_bf16(static_cast<std::uint16_t>(pair >> 16 * index));
}

// --- bf16

TEST_P(Products, RoundsRowsToPairs) {
  for (const int count : {1, 2, 15, 16, 31, 32, 33, 64, 65, 257}) {
    const Floats x = bell("x", at(count));
    std::vector<std::uint32_t> pairs(at(count + 1) / 2 + 1, 0xabcdu);
    table.round_pairs(x.data(), count, pairs.data());
    EXPECT_EQ(pairs.back(), 0xabcdu) << "wrote past the end";
    for (int i = 0; i < count; ++i) {
      EXPECT_EQ(half_of_pair(pairs[at(i) / 2], i % 2), rounded(x[at(i)])) << i << " of " << count;
    }
    EXPECT_TRUE(count % 2 == 0 || pairs[at(count) / 2] >> 16 == 0);
  }
}

TEST_P(Products, RoundsToTheNearestAndTiesToEven) {
  const Floats x = {1.0f, 1.00390625f, 1.01171875f, -1.00390625f, 1.00390637f, 3e38f, 0.0f, 1e30f};
  std::vector<std::uint32_t> pairs(4);
  table.round_pairs(x.data(), 8, pairs.data());
  const float expected[] = {1.0f,       1.0f,           1.015625f, -1.0f,
                            1.0078125f, rounded(3e38f), 0,         rounded(1e30f)};
  for (int i = 0; i < 8; ++i) EXPECT_EQ(half_of_pair(pairs[at(i) / 2], i % 2), expected[i]) << i;
}

TEST_P(Products, FillsPairsWithTheRoundedValuesOfTheFormatsDecoder) {
  for (const gguf::DTypeTraits& traits : gguf::all_dtypes()) {
    const int width = traits.block_values == 1 ? 779 : 1024;
    const testing::StoredRows stored(traits, kPanelColumns, width);
    for (const int columns : {1, 17, kPanelColumns}) {
      for (const int begin : {0, kPanelDepth}) {
        const int depth = std::min(kPanelDepth, width - begin);
        Aligned<std::uint32_t> panel(at(kPanelDepth / 2 * kPanelColumns));
        table.fill_pairs[static_cast<int>(traits.type)](stored.bytes.data(), stored.row_bytes,
                                                        columns, begin, depth, panel.data());
        for (int c = 0; c < kPanelColumns; ++c) {
          const Floats row = stored.row(c);
          for (int k = 0; k < (depth + 1) / 2 * 2; ++k) {
            const bool there = c < columns && k < depth;
            const std::uint32_t pair = panel[at(k / 2 * kPanelColumns + c)];
            const float expected = there ? rounded(row[at(begin + k)]) : 0.0f;
            // Below the normal numbers products count as nothing, whatever the panel holds.
            if (std::fpclassify(expected) == FP_SUBNORMAL) continue;
            ASSERT_EQ(half_of_pair(pair, k % 2), expected)
                << traits.name << " column " << c << " input " << begin + k;
          }
        }
      }
    }
  }
}

struct PairProduct {
  int rows, depth;
  std::size_t stride;
  std::vector<std::uint32_t> x;
  std::vector<std::uint32_t> panel;
  Floats out;

  PairProduct(const Table& table, int row_count, int words)
      : rows(row_count),
        depth(words),
        stride(at(words) + 3),
        x(at(rows) * stride),
        panel(at(words * kPanelColumns)),
        out(bell("out", at(rows * kPanelColumns))) {
    const Floats inputs = bell("x", 2 * x.size()), weights = bell("panel", 2 * panel.size());
    table.round_pairs(inputs.data(), count_of(inputs), x.data());
    table.round_pairs(weights.data(), count_of(weights), panel.data());
  }
  void multiply(const Table& table, int row, int count, float* to, bool accumulate) const {
    table.multiply_pairs(x.data() + at(row) * stride, stride, count, panel.data(), depth, to,
                         kPanelColumns, accumulate);
  }
};

TEST_P(Products, MultipliesPairs) {
  for (const int rows : {1, 2, 7, 11, 12, 13, 25, 64}) {
    for (const int depth : {1, 7, 256}) {
      for (const bool accumulate : {false, true}) {
        PairProduct product(table, rows, depth);
        const Floats before = product.out;
        product.multiply(table, 0, rows, product.out.data(), accumulate);
        for (std::size_t i = 0; i < product.out.size(); ++i) {
          double sum = accumulate ? wide(before[i]) : 0;
          for (std::size_t k = 0; k < at(depth); ++k) {
            const std::uint32_t input = product.x[i / kPanelColumns * product.stride + k];
            const std::uint32_t weight = product.panel[k * kPanelColumns + i % kPanelColumns];
            for (int j = 0; j < 2; ++j) {
              sum += wide(half_of_pair(input, j)) * wide(half_of_pair(weight, j));
            }
          }
          // A few hundred roundings of partial sums that are as large as their number's root.
          ASSERT_NEAR(wide(product.out[i]), sum, 2e-6 * std::sqrt(2 * depth) * (1 + std::abs(sum)));
        }
      }
    }
  }
}

TEST_P(Products, ARowOfPairsAloneHasTheBitsItHasInCompany) {
  PairProduct product(table, 29, 100);
  product.multiply(table, 0, 29, product.out.data(), false);
  for (int row = 0; row < 29; ++row) {
    Floats alone(kPanelColumns);
    product.multiply(table, row, 1, alone.data(), false);
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), product.out.begin() + row * kPanelColumns));
  }
}

// --- int8

TEST_P(Products, QuantisesBlocksTheSameWayInEveryLevel) {
  constexpr int kBlocks = 19, kCount = kBlocks * kBlockInputs;  // whole vectors of blocks, and some
  Floats x = bell("x", kCount);
  std::fill_n(x.begin() + kBlockInputs, kBlockInputs, 0.0f);
  for (int i = 0; i < kBlockInputs; ++i) x[at(2 * kBlockInputs + i)] *= 1e-38f;
  for (int i = 0; i < kBlockInputs; ++i) x[at(3 * kBlockInputs + i)] = static_cast<float>(i) - 127;
  std::copy_n(x.begin() + kBlockInputs, 2 * kBlockInputs, x.end() - 2 * kBlockInputs);
  std::vector<BlockInput> blocks(kBlocks);
  table.quantise(x.data(), kCount, blocks.data());
  for (int b = 0; b < kBlocks; ++b) {
    const BlockInput& block = blocks[at(b)];
    float largest = 0;
    for (int i = 0; i < kBlockInputs; ++i) {
      largest = std::max(largest, std::abs(x[at(b * kBlockInputs + i)]));
    }
    EXPECT_EQ(block.scale, largest / 127.0f);
    const float factor = largest < 0x1p-100f ? 0.0f : 127.0f / largest;
    int halves[2] = {};
    for (int i = 0; i < kBlockInputs; ++i) {
      const float code = std::nearbyint(x[at(b * kBlockInputs + i)] * factor);
      ASSERT_EQ(block.values[i], static_cast<int>(code)) << "block " << b << " value " << i;
      halves[i / 16] += block.values[i];
    }
    EXPECT_EQ(block.bases[0], -128 * halves[0]);
    EXPECT_EQ(block.bases[1], -128 * halves[1]);
    EXPECT_EQ(block.bases[2], -128 * (halves[0] + halves[1]));
    EXPECT_EQ(block.sum, block.scale * static_cast<float>(halves[0] + halves[1]));
  }
}

TEST_P(Products, ABlockWithoutANumberShowsInItsScaleAlone) {
  constexpr int kBlocks = 17, kOdd = 5;
  for (const float odd :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Floats x = bell("x", kBlocks * kBlockInputs);
    x[kOdd * kBlockInputs + 13] = odd;
    std::vector<BlockInput> blocks(kBlocks);
    table.quantise(x.data(), kBlocks * kBlockInputs, blocks.data());
    for (int b = 0; b < kBlocks; ++b) {
      BlockInput alone;
      table.quantise(x.data() + b * kBlockInputs, kBlockInputs, &alone);
      EXPECT_EQ(std::isfinite(alone.scale), b != kOdd);
      EXPECT_EQ(std::memcmp(&alone, &blocks[at(b)], sizeof(alone)), 0) << b;
    }
  }
}

// A panel of any form, and what it is made of.
struct FilledBlocks {
  Aligned<std::uint8_t> codes{kPanelDepth * kPanelColumns};
  Aligned<float> scales{2 * kPanelDepth}, offsets{kPanelDepth};
  BlockPanel panel{codes.data(), scales.data(), offsets.data()};
  BlockForm form;

  FilledBlocks(const Table& table, const testing::StoredRows& stored, int columns, int begin,
               int depth)
      : form(block_form(stored.traits.type)) {
    table.fill_blocks[static_cast<int>(stored.traits.type)](stored.bytes.data(), stored.row_bytes,
                                                            columns, begin, depth, panel);
  }
};

// Rows of activations, quantised by the level.
struct QuantisedRows {
  int rows, block_count;
  std::vector<BlockInput> blocks;

  QuantisedRows(const Table& table, int row_count, int width)
      : rows(row_count), block_count(width / kBlockInputs), blocks(at(rows * block_count)) {
    const Floats x = bell("x", at(rows * width));
    for (int row = 0; row < rows; ++row) {
      table.quantise(x.data() + row * width, width, blocks.data() + row * block_count);
    }
  }
  const BlockInput& block(int row, int index) const {
    return blocks[at(row * block_count + index)];
  }
  void multiply(const Table& table, const FilledBlocks& filled, int row, int count, float* out,
                bool accumulate) const {
    table.multiply_blocks(blocks.data() + row * block_count, at(block_count), count, filled.panel,
                          filled.form, block_count, out, kPanelColumns, accumulate);
  }
};

// The sum over inputs of (code * scale + offset) * quantised input, and the sum of the squares of
// what is added up. Codes
// are the decoded weights put back into whole numbers.
std::pair<double, double> twin(const QuantisedRows& x, int row, const Floats& weights,
                               const FilledBlocks& filled, int column) {
  const int part_inputs = kBlockInputs / filled.form.part_count;
  double sum = 0, squares = 0;
  for (int k = 0; k < count_of(weights); ++k) {
    const int block = k / kBlockInputs;
    const double scale = wide(filled.scales[at(k / part_inputs * kPanelColumns + column)]);
    const double offset =
        filled.form.has_offsets ? wide(filled.offsets[at(block * kPanelColumns + column)]) : 0;
    const double code = scale == 0 ? 0 : std::nearbyint((wide(weights[at(k)]) - offset) / scale);
    const double weight = code * scale + offset;
    EXPECT_NEAR(weight, wide(weights[at(k)]), 1e-7 * (std::abs(weight) + std::abs(offset)));
    const BlockInput& input = x.block(row, block);
    const double x_value = input.values[k % kBlockInputs] * wide(input.scale);
    sum += weight * x_value;
    squares += (std::pow(code * scale, 2) + offset * offset) * x_value * x_value;
  }
  return {sum, squares};
}

TEST_P(Products, MultipliesBlocksOfEveryFormat) {
  for (const gguf::DTypeTraits& traits : gguf::all_dtypes()) {
    ASSERT_EQ(table.fill_blocks[static_cast<int>(traits.type)] != nullptr, traits.block_values > 1)
        << traits.name;
    if (traits.block_values == 1) continue;
    const testing::StoredRows stored(traits, kPanelColumns, 768);
    for (const int rows : {1, 4, 5, 6, 13}) {
      for (const int begin : {0, kPanelDepth}) {
        const int depth = std::min(kPanelDepth, 768 - begin);
        const QuantisedRows x(table, rows, depth);
        const FilledBlocks filled(table, stored, kPanelColumns, begin, depth);
        Floats out(at(rows * kPanelColumns));
        x.multiply(table, filled, 0, rows, out.data(), false);
        for (int i = 0; i < count_of(out); ++i) {
          const int row = i / kPanelColumns, column = i % kPanelColumns;
          const Floats all = stored.row(column);
          const Floats weights(all.begin() + begin, all.begin() + begin + depth);
          const auto [sum, squares] = twin(x, row, weights, filled, column);
          // Integer sums are exact; the scales' products and a sum per block are rounded.
          ASSERT_NEAR(wide(out[at(i)]), sum, 1e-6 * std::sqrt(32 * squares))
              << traits.name << " row " << row << " column " << column << " from " << begin;
        }
      }
    }
  }
}

TEST_P(Products, ColumnsPastTheLastMultiplyToZero) {
  for (const gguf::DTypeTraits& traits : gguf::all_dtypes()) {
    if (traits.block_values == 1) continue;
    const testing::StoredRows stored(traits, kPanelColumns, 256);
    const QuantisedRows x(table, 3, 256);
    for (const int columns : {1, 15, 31}) {
      const FilledBlocks all(table, stored, kPanelColumns, 0, 256);
      const FilledBlocks some(table, stored, columns, 0, 256);
      Floats expected(3 * kPanelColumns), out(3 * kPanelColumns);
      x.multiply(table, all, 0, 3, expected.data(), false);
      x.multiply(table, some, 0, 3, out.data(), false);
      for (int i = 0; i < count_of(out); ++i) {
        const int column = i % kPanelColumns;
        EXPECT_EQ(out[at(i)], column < columns ? expected[at(i)] : 0.0f) << traits.name;
        if (!some.form.has_offsets || i >= 8 * kPanelColumns || column < columns) continue;
        EXPECT_EQ(some.offsets[at(i)], 0.0f);
      }
    }
  }
}

TEST_P(Products, ARowOfBlocksAloneHasTheBitsItHasInCompany) {
  for (const gguf::DType type : {gguf::DType::q8_0, gguf::DType::q4_K, gguf::DType::q6_K}) {
    const testing::StoredRows stored(gguf::traits_of(type), kPanelColumns, 512);
    const FilledBlocks filled(table, stored, kPanelColumns, 0, 512);
    const QuantisedRows x(table, 23, 512);
    Floats together = bell("out", 23 * kPanelColumns);
    const Floats before = together;
    x.multiply(table, filled, 0, 23, together.data(), true);
    for (int row = 0; row < 23; ++row) {
      Floats alone(before.begin() + row * kPanelColumns,
                   before.begin() + (row + 1) * kPanelColumns);
      x.multiply(table, filled, row, 1, alone.data(), true);
      EXPECT_TRUE(std::equal(alone.begin(), alone.end(), together.begin() + row * kPanelColumns));
    }
  }
}

TEST_P(Products, LargestCodesDoNotOverflow) {
  const gguf::DTypeTraits& traits = gguf::traits_of(gguf::DType::q8_0);
  testing::StoredRows stored(traits, kPanelColumns, 512);
  for (std::size_t i = 0; i < stored.bytes.size(); i += 34) {
    const std::uint16_t one = 0x3c00;
    std::memcpy(stored.bytes.data() + i, &one, sizeof(one));
    std::fill_n(stored.bytes.begin() + static_cast<std::ptrdiff_t>(i) + 2, 32, std::byte{0x80});
  }
  const FilledBlocks filled(table, stored, kPanelColumns, 0, 512);
  QuantisedRows x(table, 1, 512);
  const Floats largest(512, -127.0f);
  Floats out(kPanelColumns);
  table.quantise(largest.data(), 512, x.blocks.data());
  x.multiply(table, filled, 0, 1, out.data(), false);
  for (const float value : out) EXPECT_EQ(value, 512.0f * 128 * 127);
}

INSTANTIATE_TEST_SUITE_P(Level, Products, ::testing::ValuesIn(levels()),
                         [](const auto& level) { return std::string(level.param); });

}  // namespace
}  // namespace adjudge::kernel
