// Q5_0: 32 values of 5 bits around 16, times one scale. The low four bits lie as in Q4_0; bit i of
// `high` (little-endian) is the fifth bit of value i.
#pragma once

#include "gguf/half.h"

namespace adjudge::gguf {

struct [[gnu::packed]] BlockQ5_0 {
  static constexpr int kValues = 32;
  std::uint16_t scale;  // half
  std::uint32_t high;
  std::uint8_t values[16];
};
static_assert(sizeof(BlockQ5_0) == 22);

static inline void decode_q5_0(const BlockQ5_0& block, float* out) {
  const float scale = float_of_half(block.scale);
  for (int i = 0; i < 16; ++i) {
    const int first = (block.values[i] & 15) | static_cast<int>((block.high >> i & 1u) << 4);
    const int last = (block.values[i] >> 4) | static_cast<int>((block.high >> (i + 16) & 1u) << 4);
    out[i] = static_cast<float>(first - 16) * scale;
    out[i + 16] = static_cast<float>(last - 16) * scale;
  }
}

}  // namespace adjudge::gguf
