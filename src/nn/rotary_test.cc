#include "nn/rotary.h"

#include "nn/nn_test.h"

namespace adjudge {
namespace {

constexpr int kRows = 40;
constexpr int kWidth = 512;
constexpr Rotary kRotary{.dimensions = 48, .base = 1e6};

std::vector<int> positions_from(int first, int count = kRows) {
  std::vector<int> positions;
  for (int row = 0; row < count; ++row) positions.push_back(first + row * 400);
  return positions;
}

TEST(Rotator, TurnsTheFirstDimensionsOfEveryHead) {
  TestNet net;
  const OwnedRows before("x", kRows, kWidth, 1);
  OwnedRows x = before;
  const std::vector<int> positions = positions_from(0);
  Rotator rotator;
  rotator.rotate_heads(net.context, x.rows(), 128, kRotary, positions);
  for (int row = 0; row < kRows; ++row) {
    for (int i = 0; i < kWidth; ++i) {
      const int inside = i % 128;
      const float* head = before.row(row) + i / 128 * 128;
      const double angle = positions[at(row)] * std::pow(1e6, -2.0 * (inside % 24) / 48);
      const double low = wide(head[inside % 24]), high = wide(head[inside % 24 + 24]);
      const double expected = inside >= 48  ? wide(head[inside])
                              : inside < 24 ? low * std::cos(angle) - high * std::sin(angle)
                                            : low * std::sin(angle) + high * std::cos(angle);
      ASSERT_NEAR(wide(x.row(row)[i]), expected, 2e-6 * (1 + std::abs(expected)))
          << row << " " << i;
    }
  }
  EXPECT_TRUE(x.gaps_untouched());
}

// What has been computed for other positions, bases or counts is not taken for what is asked.
TEST(Rotator, GivesTheSameBitsWhateverItHasTurnedBefore) {
  TestNet net;
  Rotator rotator;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < Rotator::kSetCountMax + 2; ++i) {
      for (const double base : {1e4, 1e6}) {
        const int count = kRows - i % 3;
        const OwnedRows before("x", count, kWidth);
        OwnedRows kept = before, fresh = before;
        const Rotary rotary{.dimensions = 128, .base = base};
        const std::vector<int> positions = positions_from(i, count);
        rotator.rotate_heads(net.context, kept.rows(), 128, rotary, positions);
        Rotator().rotate_heads(net.context, fresh.rows(), 128, rotary, positions);
        ASSERT_EQ(kept.values, fresh.values) << i << " " << base;
      }
    }
  }
}

TEST(Rotator, TurnsPairsByTimeHeightOrWidth) {
  TestNet net;
  const Rotary rotary{.dimensions = 12, .base = 1e4, .height_pairs = 2, .width_pairs = 1};
  const OwnedRows before("x", 2, 12);
  OwnedRows x = before;
  const std::vector<int> positions = {3, 4, 50, 60, 700, 800};  // times, heights, widths
  Rotator().rotate_heads(net.context, x.rows(), 12, rotary, positions);
  constexpr int kAxes[6] = {0, 1, 2, 0, 1, 0};
  for (int row = 0; row < 2; ++row) {
    for (int i = 0; i < 6; ++i) {
      const double angle = positions[at(2 * kAxes[i] + row)] * std::pow(1e4, -2.0 * i / 12);
      const double low = wide(before.row(row)[i]), high = wide(before.row(row)[i + 6]);
      EXPECT_NEAR(wide(x.row(row)[i]), low * std::cos(angle) - high * std::sin(angle), 1e-5);
    }
  }
}

}  // namespace
}  // namespace adjudge
