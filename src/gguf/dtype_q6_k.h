// Q6_K: 256 values of 6 bits around 32 in sixteen groups of 16, each with a signed scale. Each half
// of the block (128 values) has 64 bytes of low bits and 32 bytes of high bits; its four quarters
// of 32 values take: low bits of bytes 0-31, of 32-63, then their upper halves; high bits in pairs.
#pragma once

#include "gguf/half.h"

namespace adjudge::gguf {

struct [[gnu::packed]] BlockQ6_K {
  static constexpr int kValues = 256;
  std::uint8_t low[128];
  std::uint8_t high[64];
  std::int8_t scales[16];
  std::uint16_t scale;  // half; of the groups' scales
};
static_assert(sizeof(BlockQ6_K) == 210);

static inline void decode_q6_k(const BlockQ6_K& block, float* out) {
  const float scale = float_of_half(block.scale);
  for (int quarter = 0; quarter < 8; ++quarter) {
    const int half = quarter / 4;
    const int place = quarter % 4;
    const std::uint8_t* low = block.low + half * 64 + place % 2 * 32;
    const std::uint8_t* high = block.high + half * 32;
    for (int i = 0; i < 32; ++i) {
      const float group_scale = scale * static_cast<float>(block.scales[quarter * 2 + i / 16]);
      const int value = (low[i] >> place / 2 * 4 & 15) | ((high[i] >> place * 2 & 3) << 4);
      out[quarter * 32 + i] = group_scale * static_cast<float>(value - 32);
    }
  }
}

}  // namespace adjudge::gguf
