// What the tiles of several NEON levels share: how sums leave their registers, and squares: two
// rows by two columns of a product in one register, as Arm's matrix instructions make them, {upper
// left, upper right, lower left, lower right}, of eight bytes of each row and column.
#pragma once

#include "kernel/neon/lanes.h"

namespace adjudge::kernel::neon {

namespace {

// Writes a tile's sums, two vectors of columns to a row, or adds them to what `out` holds. Not a
// loop: indexed by one, g++ 12 would keep the sums in memory too.
template <int kRowCount, int kRow = 0>
void put_sums(const float32x4_t (&sums)[kRowCount][2], float* out, std::size_t out_stride,
              bool accumulate) {
  const float32x4_t left = accumulate ? vaddq_f32(vld1q_f32(out), sums[kRow][0]) : sums[kRow][0];
  const float32x4_t right =
      accumulate ? vaddq_f32(vld1q_f32(out + 4), sums[kRow][1]) : sums[kRow][1];
  vst1q_f32(out, left);
  vst1q_f32(out + 4, right);
  if constexpr (kRow + 1 < kRowCount) {
    put_sums<kRowCount, kRow + 1>(sums, out + out_stride, out_stride, accumulate);
  }
}

// The second half of the first and the first half of the second register change places. Two rows of
// 16 bytes become inputs of two steps; two squares become two rows of four columns; and back.
inline void swap_halves(float32x4_t& first, float32x4_t& second) {
  const float64x2_t a = vreinterpretq_f64_f32(first), b = vreinterpretq_f64_f32(second);
  first = vreinterpretq_f32_f64(vzip1q_f64(a, b));
  second = vreinterpretq_f32_f64(vzip2q_f64(a, b));
}

}  // namespace

}  // namespace adjudge::kernel::neon
