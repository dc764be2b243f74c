#include "kernel/neon/lanes.h"
#include "kernel/neon/tile.h"
#include "kernel/simd/blocks.h"
#include "kernel/simd/delta.h"
#include "kernel/simd/panel.h"
#include "kernel/simd/rows.h"

namespace adjudge::kernel::neon {

void improve(Table& table);

namespace {

// The multiply-add picks its input from a vector of four, which costs nothing; spreading one would
// take a slot of the pipes that multiply.
struct LaneTile {
  using Word = float;
  // 8 rows by 2 vectors are 16 of the 32 registers, and as many chains as four pipes with a latency
  // of 4 need; 8 more hold inputs.
  static constexpr int kRows = 8;
  static constexpr int kColumns = 2 * Lanes::kCount;

  // One step along the inner dimension, the inputs of which are in lane kLane.
  template <int kLane, int kRowCount>
  static void add(const float32x4_t (&inputs)[kRowCount], const float* panel,
                  float32x4_t (&sums)[kRowCount][2]) {
    const float32x4_t left = vld1q_f32(panel), right = vld1q_f32(panel + Lanes::kCount);
    for (int row = 0; row < kRowCount; ++row) {
      sums[row][0] = vfmaq_laneq_f32(sums[row][0], left, inputs[row], kLane);
      sums[row][1] = vfmaq_laneq_f32(sums[row][1], right, inputs[row], kLane);
    }
  }

  template <int kRowCount>
  static void multiply(const float* x, std::size_t x_stride, const float* panel, int depth,
                       float* out, std::size_t out_stride, bool accumulate) {
    float32x4_t sums[kRowCount][2], inputs[kRowCount];
    for (int row = 0; row < kRowCount; ++row) sums[row][0] = sums[row][1] = Lanes::zero();
    const auto input = [=](int row, int k) {
      return x + static_cast<std::size_t>(row) * x_stride + k;
    };
    int k = 0;
    for (; k + 4 <= depth; k += 4, panel += 4 * kPanelColumns) {
      for (int row = 0; row < kRowCount; ++row) inputs[row] = vld1q_f32(input(row, k));
      add<0>(inputs, panel, sums);
      add<1>(inputs, panel + kPanelColumns, sums);
      add<2>(inputs, panel + 2 * kPanelColumns, sums);
      add<3>(inputs, panel + 3 * kPanelColumns, sums);
    }
    for (; k < depth; ++k, panel += kPanelColumns) {
      for (int row = 0; row < kRowCount; ++row) inputs[row] = Lanes::all(*input(row, k));
      add<0>(inputs, panel, sums);
    }
    put_sums(sums, out, out_stride, accumulate);
  }
};

// Products of bytes fill 16 bits and are added in pairs to sums of 32, two to a column.
struct SignedLanes : Lanes {
  // 3 rows by 2 vectors are 18 of the 32 registers: a sum and two halves of a dot product each.
  static constexpr int kBlockRows = 3;
  static constexpr int kBlockVectors = 2;
  static constexpr int kCodeFlip = 0;
  struct Dots {
    int32x4_t low, high;
  };
  static Dots start(const BlockInput&, int) { return {vdupq_n_s32(0), vdupq_n_s32(0)}; }
  static void add_dot(Ints codes, Ints inputs, Dots& dots) {
    const int8x16_t a = vreinterpretq_s8_s32(codes), b = vreinterpretq_s8_s32(inputs);
    dots.low = vpadalq_s16(dots.low, vmull_s8(vget_low_s8(a), vget_low_s8(b)));
    dots.high = vpadalq_s16(dots.high, vmull_high_s8(a, b));
  }
  static void pause_dot(Dots&) {}
  static Ints total(Dots dots) { return vpaddq_s32(dots.low, dots.high); }
};

// Codes of formats with offsets are 0 to 31: a lane's sum over the 8 words of a block is 31 * 127 *
// 8 = 31496 at most and fits 16 bits.
struct UnsignedLanes : SignedLanes {
  struct Dots {
    int16x8_t low, high;
  };
  static Dots start(const BlockInput&, int) { return {vdupq_n_s16(0), vdupq_n_s16(0)}; }
  static void add_dot(Ints codes, Ints inputs, Dots& dots) {
    const int8x16_t a = vreinterpretq_s8_s32(codes), b = vreinterpretq_s8_s32(inputs);
    dots.low = vmlal_s8(dots.low, vget_low_s8(a), vget_low_s8(b));
    dots.high = vmlal_high_s8(dots.high, a, b);
  }
  static void pause_dot(Dots&) {}
  static Ints total(Dots dots) { return vpaddq_s32(vpaddlq_s16(dots.low), vpaddlq_s16(dots.high)); }
};

}  // namespace

void improve(Table& table) {
  improve_panels<Lanes, LaneTile>(table);
  improve_rows<Lanes>(table);
  improve_blocks<SignedLanes, BlockTile<SignedLanes>, BlockTile<UnsignedLanes>>(table);
  // 16 products of signed bytes take four instructions, as many as in f32.
  table.fast_int8 = false;
  table.delta_rule = delta_rule<Lanes>;
}

}  // namespace adjudge::kernel::neon
