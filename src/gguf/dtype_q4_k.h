// Q4_K: 256 values of 4 bits in eight groups of 32, each with its own scale and minimum. Of every
// 32 bytes the low halves are one group and the high halves the next.
#pragma once

#include "gguf/half.h"
#include "gguf/k_scales.h"

namespace adjudge::gguf {

struct [[gnu::packed]] BlockQ4_K {
  static constexpr int kValues = 256;
  std::uint16_t scale;    // half; of the groups' scales
  std::uint16_t minimum;  // half; of the groups' minima
  std::uint8_t scales[12];
  std::uint8_t values[128];
};
static_assert(sizeof(BlockQ4_K) == 144);

static inline void decode_q4_k(const BlockQ4_K& block, float* out) {
  const float scale = float_of_half(block.scale);
  const float minimum = float_of_half(block.minimum);
  const KScales groups = unpack_k_scales(block.scales);
  for (int group = 0; group < 8; ++group) {
    const std::uint8_t* values = block.values + group / 2 * 32;
    const int shift = group % 2 * 4;
    const float group_scale = scale * static_cast<float>(groups.scales[group]);
    const float group_minimum = minimum * static_cast<float>(groups.minima[group]);
    for (int i = 0; i < 32; ++i) {
      out[group * 32 + i] =
          group_scale * static_cast<float>(values[i] >> shift & 15) - group_minimum;
    }
  }
}

}  // namespace adjudge::gguf
