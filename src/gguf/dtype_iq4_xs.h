// IQ4_XS: 256 indices into IQ4_NL's table in eight groups of 32, each with a 6-bit scale around 32:
// four bits in scales_low (two groups a byte), two in scales_high. Within a group order is Q4_0's.
#pragma once

#include "gguf/dtype_iq4_nl.h"

namespace adjudge::gguf {

struct [[gnu::packed]] BlockIq4Xs {
  static constexpr int kValues = 256;
  std::uint16_t scale;  // half; of the groups' scales
  std::uint16_t scales_high;
  std::uint8_t scales_low[4];
  std::uint8_t values[128];
};
static_assert(sizeof(BlockIq4Xs) == 136);

static inline void decode_iq4_xs(const BlockIq4Xs& block, float* out) {
  const float scale = float_of_half(block.scale);
  for (int group = 0; group < 8; ++group) {
    const int low = block.scales_low[group / 2] >> group % 2 * 4 & 15;
    const int high = block.scales_high >> group * 2 & 3;
    const float group_scale = scale * static_cast<float>((low | high << 4) - 32);
    const std::uint8_t* values = block.values + group * 16;
    float* group_out = out + group * 32;
    for (int i = 0; i < 16; ++i) {
      group_out[i] = group_scale * static_cast<float>(kIq4Values[values[i] & 15]);
      group_out[i + 16] = group_scale * static_cast<float>(kIq4Values[values[i] >> 4]);
    }
  }
}

}  // namespace adjudge::gguf
