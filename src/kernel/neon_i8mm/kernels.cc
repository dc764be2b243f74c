#include "kernel/neon/lanes.h"
#include "kernel/neon/tile.h"
#include "kernel/simd/blocks.h"

namespace adjudge::kernel::neon_i8mm {

void improve(Table& table);

namespace {

using neon::swap_halves;

struct CodeLanes : neon::Lanes {
  static constexpr int kCodeFlip = 0;
};

struct SquareTile {
  // 3 by 4 squares are 24 of the 32 registers, as each has a sum and a dot product.
  static constexpr int kRows = 6;
  static constexpr int kColumns = 8;
  static constexpr int kSquares = kColumns / 2;  // side by side
  static constexpr int kRun = 8;                 // codes lie as (inputs / 8, column, 8)

  static void turn_codes(const std::int8_t* codes, int stride, int depth, std::uint8_t* panel) {
    for (int k = 0; k < depth; k += kRun, panel += kRun * kPanelColumns) {
      for (int lane = 0; lane < CodeLanes::kCount; ++lane) {
        std::memcpy(panel + kRun * lane, codes + lane * stride + k, kRun);
      }
    }
  }

  template <int kPairs>
  using Sums = float32x4_t[kPairs][kSquares];
  template <int kPairs>
  using Dots = int32x4_t[kPairs][kSquares];

  // Inputs begin to begin + 16, two steps.
  template <int kPairs, class Row>
  static void add_dots(const Row& row, int begin, const std::uint8_t* codes, Dots<kPairs>& dots) {
    float32x4_t inputs[kPairs][2];  // by step
    for (int pair = 0; pair < kPairs; ++pair) {
      inputs[pair][0] = CodeLanes::load(row(2 * pair).values + begin);
      inputs[pair][1] = CodeLanes::load(row(2 * pair + 1).values + begin);
      swap_halves(inputs[pair][0], inputs[pair][1]);
    }
    for (int step = 0; step < 2; ++step, codes += kRun * kPanelColumns) {
      for (int j = 0; j < kSquares; ++j) {
        const int8x16_t weights = vreinterpretq_s8_u8(vld1q_u8(codes + 2 * kRun * j));
        for (int pair = 0; pair < kPairs; ++pair) {
          const int8x16_t input = vreinterpretq_s8_f32(inputs[pair][step]);
          dots[pair][j] = vmmlaq_s32(dots[pair][j], input, weights);
        }
      }
    }
  }

  // A value of the upper and one of the lower row, or values of two columns, over a square.
  static float32x4_t of_rows(float upper, float lower) {
    return vcombine_f32(vdup_n_f32(upper), vdup_n_f32(lower));
  }
  static float32x4_t of_columns(const float* values) {
    const float32x2_t two = vld1_f32(values);
    return vcombine_f32(two, two);
  }

  template <int kParts, bool kOffsets, int kRowCount>
  static void multiply(const BlockInput* x, std::size_t x_stride, BlockPanel panel, int block_count,
                       float* out, std::size_t out_stride, bool accumulate) {
    constexpr int kPairs = (kRowCount + 1) / 2;
    constexpr int kInputs = kBlockInputs / kParts;
    Sums<kPairs> sums;
    start<kRowCount>(out, out_stride, accumulate, sums);
    for (int block = 0; block < block_count; ++block, ++x) {
      const auto row = [=](int index) -> const BlockInput& {  // an odd last row stands twice
        return block_of(x, x_stride, index < kRowCount ? index : kRowCount - 1);
      };
      for (int part = 0; part < kParts; ++part, panel.scales += kPanelColumns) {
        Dots<kPairs> dots;
        for (auto& line : dots) {
          for (int32x4_t& dot : line) dot = vdupq_n_s32(0);
        }
        for (int i = 0; i < kInputs; i += 16, panel.codes += 16 * kPanelColumns) {
          add_dots<kPairs>(row, part * kInputs + i, panel.codes, dots);
        }
        for (int pair = 0; pair < kPairs; ++pair) {
          const float32x4_t scales = of_rows(row(2 * pair).scale, row(2 * pair + 1).scale);
          for (int j = 0; j < kSquares; ++j) {
            const float32x4_t scaled =
                vmulq_f32(vcvtq_f32_s32(dots[pair][j]), of_columns(panel.scales + 2 * j));
            sums[pair][j] = vfmaq_f32(sums[pair][j], scaled, scales);
          }
        }
      }
      if constexpr (kOffsets) {
        for (int pair = 0; pair < kPairs; ++pair) {
          const float32x4_t inputs = of_rows(row(2 * pair).sum, row(2 * pair + 1).sum);
          for (int j = 0; j < kSquares; ++j) {
            sums[pair][j] = vfmaq_f32(sums[pair][j], of_columns(panel.offsets + 2 * j), inputs);
          }
        }
        panel.offsets += kPanelColumns;
      }
    }
    put<kRowCount>(sums, out, out_stride);
  }

  // Neither is a loop over rows, for the reason neon::put_sums gives.
  template <int kRowCount, int kRow = 0>
  static void start(const float* out, std::size_t out_stride, bool accumulate,
                    Sums<(kRowCount + 1) / 2>& sums) {
    const float* lower = kRow + 1 < kRowCount ? out + out_stride : out;
    for (int j = 0; j < kSquares; j += 2) {
      float32x4_t& left = sums[kRow / 2][j];
      float32x4_t& right = sums[kRow / 2][j + 1];
      left = accumulate ? vld1q_f32(out + 2 * j) : vdupq_n_f32(0);
      right = accumulate ? vld1q_f32(lower + 2 * j) : vdupq_n_f32(0);
      swap_halves(left, right);
    }
    if constexpr (kRow + 2 < kRowCount) {
      start<kRowCount, kRow + 2>(out + 2 * out_stride, out_stride, accumulate, sums);
    }
  }

  template <int kRowCount, int kRow = 0>
  static void put(Sums<(kRowCount + 1) / 2>& sums, float* out, std::size_t out_stride) {
    for (int j = 0; j < kSquares; j += 2) {
      float32x4_t upper = sums[kRow / 2][j], lower = sums[kRow / 2][j + 1];
      swap_halves(upper, lower);
      vst1q_f32(out + 2 * j, upper);
      if constexpr (kRow + 1 < kRowCount) vst1q_f32(out + out_stride + 2 * j, lower);
    }
    if constexpr (kRow + 2 < kRowCount) {
      put<kRowCount, kRow + 2>(sums, out + 2 * out_stride, out_stride);
    }
  }
};

}  // namespace

void improve(Table& table) { improve_blocks<CodeLanes, SquareTile>(table); }

}  // namespace adjudge::kernel::neon_i8mm
