#include "kernel/neon/lanes.h"
#include "kernel/simd/blocks.h"

namespace adjudge::kernel::neon_dotprod {

void improve(Table& table);

namespace {

struct BlockLanes : neon::Lanes {
  // 5 rows by 2 vectors are 20 of the 32 registers, as each has a sum and a dot product; 5 more
  // hold inputs.
  static constexpr int kBlockRows = 5;
  static constexpr int kBlockVectors = 2;
  static constexpr int kCodeFlip = 0;
  using Dots = Ints;
  static Dots start(const BlockInput&, int) { return vdupq_n_s32(0); }
  static Ints total(Dots dots) { return dots; }
};

// The dot product picks its word of inputs from a vector of four, so nothing is spread.
struct LaneWords {
  static constexpr int kRun = 4;

  // The words in lane kLane.
  template <int kLane, int kRowCount>
  static void add(const int8x16_t (&inputs)[kRowCount], const std::uint8_t* codes,
                  int32x4_t (&dots)[kRowCount][2]) {
    const int8x16_t left = vreinterpretq_s8_u8(vld1q_u8(codes));
    const int8x16_t right = vreinterpretq_s8_u8(vld1q_u8(codes + 16));
    for (int row = 0; row < kRowCount; ++row) {
      dots[row][0] = vdotq_laneq_s32(dots[row][0], left, inputs[row], kLane);
      dots[row][1] = vdotq_laneq_s32(dots[row][1], right, inputs[row], kLane);
    }
  }

  template <int kWords, int kRowCount>
  static void add_dots(const BlockInput* x, std::size_t x_stride, int first_word,
                       const std::uint8_t* codes, int32x4_t (&dots)[kRowCount][2]) {
    constexpr int kLine = 4 * kPanelColumns;
    for (int word = 0; word < kWords; word += 4, codes += 4 * kLine) {
      int8x16_t inputs[kRowCount];
      for (int row = 0; row < kRowCount; ++row) {
        inputs[row] = vld1q_s8(block_of(x, x_stride, row).values + 4 * (first_word + word));
      }
      add<0>(inputs, codes, dots);
      add<1>(inputs, codes + kLine, dots);
      add<2>(inputs, codes + 2 * kLine, dots);
      add<3>(inputs, codes + 3 * kLine, dots);
    }
  }
};

}  // namespace

void improve(Table& table) { improve_blocks<BlockLanes, BlockTile<BlockLanes, LaneWords>>(table); }

}  // namespace adjudge::kernel::neon_dotprod
