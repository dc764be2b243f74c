// Q4_1: 32 values of 4 bits, times one scale, plus one offset. Order as in Q4_0.
#pragma once

#include "gguf/half.h"

namespace adjudge::gguf {

struct [[gnu::packed]] BlockQ4_1 {
  static constexpr int kValues = 32;
  std::uint16_t scale;   // half
  std::uint16_t offset;  // half
  std::uint8_t values[16];
};
static_assert(sizeof(BlockQ4_1) == 20);

static inline void decode_q4_1(const BlockQ4_1& block, float* out) {
  const float scale = float_of_half(block.scale);
  const float offset = float_of_half(block.offset);
  for (int i = 0; i < 16; ++i) {
    out[i] = static_cast<float>(block.values[i] & 15) * scale + offset;
    out[i + 16] = static_cast<float>(block.values[i] >> 4) * scale + offset;
  }
}

}  // namespace adjudge::gguf
