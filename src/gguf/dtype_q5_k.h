// Q5_K: Q4_K with a fifth bit: bit g of high[i] belongs to value i of group g.
#pragma once

#include "gguf/half.h"
#include "gguf/k_scales.h"

namespace adjudge::gguf {

struct [[gnu::packed]] BlockQ5_K {
  static constexpr int kValues = 256;
  std::uint16_t scale;    // half; of the groups' scales
  std::uint16_t minimum;  // half; of the groups' minima
  std::uint8_t scales[12];
  std::uint8_t high[32];
  std::uint8_t values[128];
};
static_assert(sizeof(BlockQ5_K) == 176);

static inline void decode_q5_k(const BlockQ5_K& block, float* out) {
  const float scale = float_of_half(block.scale);
  const float minimum = float_of_half(block.minimum);
  const KScales groups = unpack_k_scales(block.scales);
  for (int group = 0; group < 8; ++group) {
    const std::uint8_t* values = block.values + group / 2 * 32;
    const int shift = group % 2 * 4;
    const float group_scale = scale * static_cast<float>(groups.scales[group]);
    const float group_minimum = minimum * static_cast<float>(groups.minima[group]);
    for (int i = 0; i < 32; ++i) {
      const int value = (values[i] >> shift & 15) | ((block.high[i] >> group & 1) << 4);
      out[group * 32 + i] = group_scale * static_cast<float>(value) - group_minimum;
    }
  }
}

}  // namespace adjudge::gguf
