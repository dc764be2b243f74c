// Rotary position embedding: dimension i of the first `dimensions` of each head is paired with
// i + dimensions / 2 ("neox") and turned by position * base^(-2i / dimensions).
#pragma once

#include <span>
#include <vector>

#include "base/aligned.h"
#include "nn/context.h"
#include "nn/matmul.h"

namespace adjudge {

struct Rotary {
  int dimensions = 0;
  double base = 10000.0;
  // Pair i turns by the height where i % 3 == 1 and i < 3 * height_pairs, by the width where
  // i % 3 == 2 and i < 3 * width_pairs, by the time elsewhere.
  int height_pairs = 0;
  int width_pairs = 0;

  bool operator==(const Rotary&) const = default;
};
inline constexpr int kRotaryHalfMax = 256;  // no head is wider than 512

// Turns heads, and keeps the cosines and sines it has computed: all layers of a pass turn by a few
// sets of them.
class Rotator {
 public:
  // Sets that are kept: of two bases, for all rows and for those that are read.
  static constexpr int kSetCountMax = 4;

  // positions: one per row of x, or all times, then all heights, then all widths.
  void rotate_heads(const NetContext& net, const Rows& x, int head_width, const Rotary& rotary,
                    std::span<const int> positions);

 private:
  struct Turns {
    Rotary rotary;
    std::vector<int> positions;
    Aligned<float> values;  // per row: cosines, then sines, of each pair's angle
  };
  const Turns& turns_of(const NetContext& net, const Rotary& rotary, std::span<const int> positions,
                        int row_count);

  std::vector<Turns> sets_;
  int next_ = 0;  // replaced next, once there are kSetCountMax
};

}  // namespace adjudge
