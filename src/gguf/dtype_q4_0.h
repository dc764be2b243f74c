// Q4_0: 32 values of 4 bits around 8, times one scale. The low halves of the bytes are the first
// 16 values, the high halves the last 16.
#pragma once

#include "gguf/half.h"

namespace adjudge::gguf {

struct [[gnu::packed]] BlockQ4_0 {
  static constexpr int kValues = 32;
  std::uint16_t scale;  // half
  std::uint8_t values[16];
};
static_assert(sizeof(BlockQ4_0) == 18);

static inline void decode_q4_0(const BlockQ4_0& block, float* out) {
  const float scale = float_of_half(block.scale);
  for (int i = 0; i < 16; ++i) {
    out[i] = static_cast<float>((block.values[i] & 15) - 8) * scale;
    out[i + 16] = static_cast<float>((block.values[i] >> 4) - 8) * scale;
  }
}

}  // namespace adjudge::gguf
