// Q5_1: 32 values of 5 bits, times one scale, plus one offset. Order as in Q5_0.
#pragma once

#include "gguf/half.h"

namespace adjudge::gguf {

struct [[gnu::packed]] BlockQ5_1 {
  static constexpr int kValues = 32;
  std::uint16_t scale;   // half
  std::uint16_t offset;  // half
  std::uint32_t high;
  std::uint8_t values[16];
};
static_assert(sizeof(BlockQ5_1) == 24);

static inline void decode_q5_1(const BlockQ5_1& block, float* out) {
  const float scale = float_of_half(block.scale);
  const float offset = float_of_half(block.offset);
  for (int i = 0; i < 16; ++i) {
    const int first = (block.values[i] & 15) | static_cast<int>((block.high >> i & 1u) << 4);
    const int last = (block.values[i] >> 4) | static_cast<int>((block.high >> (i + 16) & 1u) << 4);
    out[i] = static_cast<float>(first) * scale + offset;
    out[i + 16] = static_cast<float>(last) * scale + offset;
  }
}

}  // namespace adjudge::gguf
