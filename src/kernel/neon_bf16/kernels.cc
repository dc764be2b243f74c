#include "kernel/neon/lanes.h"
#include "kernel/neon/tile.h"
#include "kernel/simd/panel.h"

namespace adjudge::kernel::neon_bf16 {

void improve(Table& table);

namespace {

using neon::swap_halves;

struct PairLanes : neon::Lanes {
  static void store_pairs(std::uint32_t* to, Floats first, Floats last) {
    const bfloat16x8_t pairs = vcvtq_high_bf16_f32(vcvtq_low_bf16_f32(first), last);
    vst1q_u32(to, vreinterpretq_u32_bf16(pairs));
  }
};

// By definition (BFMatMulAdd in Arm's manual) an element of a square is one chain of sums of pairs,
// whatever stands in the others.
struct SquareTile {
  using Word = std::uint32_t;
  // 4 by 4 squares are 16 of the 32 registers; 8 more hold the inputs of two steps.
  static constexpr int kRows = 8;
  static constexpr int kColumns = 8;
  static constexpr int kSquares = kColumns / 2;  // side by side
  static constexpr int kWords = 4;               // of a row at once: two steps

  template <int kPairs>
  using Inputs = float32x4_t[kPairs][2];  // of pairs of rows, by step
  template <int kPairs>
  using Sums = float32x4_t[kPairs][kSquares];

  // kWords lines of the panel.
  template <int kPairs>
  static void add(const Inputs<kPairs>& inputs, const std::uint32_t* panel, Sums<kPairs>& sums) {
    for (int step = 0; step < 2; ++step, panel += 2 * kPanelColumns) {
      for (int j = 0; j < kSquares; j += 2) {
        const uint32x4_t first = vld1q_u32(panel + 2 * j);
        const uint32x4_t second = vld1q_u32(panel + kPanelColumns + 2 * j);
        const bfloat16x8_t left = vreinterpretq_bf16_u32(vzip1q_u32(first, second));
        const bfloat16x8_t right = vreinterpretq_bf16_u32(vzip2q_u32(first, second));
        for (int pair = 0; pair < kPairs; ++pair) {
          const bfloat16x8_t input = vreinterpretq_bf16_f32(inputs[pair][step]);
          sums[pair][j] = vbfmmlaq_f32(sums[pair][j], input, left);
          sums[pair][j + 1] = vbfmmlaq_f32(sums[pair][j + 1], input, right);
        }
      }
    }
  }

  // The last words of an inner dimension, fewer than kWords; zeros stand behind them.
  static float32x4_t last_words(const std::uint32_t* from, int count) {
    std::uint32_t words[kWords] = {};
    for (int i = 0; i < count; ++i) words[i] = from[i];
    return PairLanes::load(words);
  }
  static void copy_last_lines(const std::uint32_t* panel, int count, std::uint32_t* lines) {
    for (int i = 0; i < count * kPanelColumns; i += kPanelColumns) {
      std::memcpy(lines + i, panel + i, kColumns * sizeof(panel[0]));
    }
  }

  template <int kRowCount>
  static void multiply(const std::uint32_t* x, std::size_t x_stride, const std::uint32_t* panel,
                       int depth, float* out, std::size_t out_stride, bool accumulate) {
    constexpr int kPairs = (kRowCount + 1) / 2;
    const auto row = [=](int index) {  // an odd last row stands twice
      return x + static_cast<std::size_t>(index < kRowCount ? index : kRowCount - 1) * x_stride;
    };
    Inputs<kPairs> inputs;
    Sums<kPairs> sums;
    for (int i = 0; i < kPairs * kSquares; ++i) sums[i / kSquares][i % kSquares] = vdupq_n_f32(0);
    int k = 0;
    for (; k + kWords <= depth; k += kWords, panel += kWords * kPanelColumns) {
      for (int pair = 0; pair < kPairs; ++pair) {
        inputs[pair][0] = PairLanes::load(row(2 * pair) + k);
        inputs[pair][1] = PairLanes::load(row(2 * pair + 1) + k);
        swap_halves(inputs[pair][0], inputs[pair][1]);
      }
      add<kPairs>(inputs, panel, sums);
    }
    if (k < depth) {
      std::uint32_t lines[kWords * kPanelColumns] = {};
      copy_last_lines(panel, depth - k, lines);
      for (int pair = 0; pair < kPairs; ++pair) {
        inputs[pair][0] = last_words(row(2 * pair) + k, depth - k);
        inputs[pair][1] = last_words(row(2 * pair + 1) + k, depth - k);
        swap_halves(inputs[pair][0], inputs[pair][1]);
      }
      add<kPairs>(inputs, lines, sums);
    }
    put<kRowCount>(sums, out, out_stride, accumulate);
  }

  template <int kRowCount>
  static void put(Sums<(kRowCount + 1) / 2>& squares, float* out, std::size_t out_stride,
                  bool accumulate) {
    float32x4_t sums[kRowCount][2];
    for (int row = 0; row < kRowCount; row += 2) {
      for (int j = 0; j < 2; ++j) {
        float32x4_t upper = squares[row / 2][2 * j], lower = squares[row / 2][2 * j + 1];
        swap_halves(upper, lower);
        sums[row][j] = upper;
        if (row + 1 < kRowCount) sums[row + 1][j] = lower;
      }
    }
    neon::put_sums(sums, out, out_stride, accumulate);
  }
};

}  // namespace

void improve(Table& table) { improve_pairs<PairLanes, SquareTile>(table); }

}  // namespace adjudge::kernel::neon_bf16
