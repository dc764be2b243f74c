// IQ4_NL: 32 indices of 4 bits into a fixed table of unevenly spaced values, times one scale. Order
// as in Q4_0. The table is kvalues_iq4nl of ggml-common.h.
#pragma once

#include "gguf/half.h"

namespace adjudge::gguf {

static constexpr std::int8_t kIq4Values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                               1,    13,   25,  38,  53,  69,  89,  113};

struct [[gnu::packed]] BlockIq4Nl {
  static constexpr int kValues = 32;
  std::uint16_t scale;  // half
  std::uint8_t values[16];
};
static_assert(sizeof(BlockIq4Nl) == 18);

static inline void decode_iq4_nl(const BlockIq4Nl& block, float* out) {
  const float scale = float_of_half(block.scale);
  for (int i = 0; i < 16; ++i) {
    out[i] = scale * static_cast<float>(kIq4Values[block.values[i] & 15]);
    out[i + 16] = scale * static_cast<float>(kIq4Values[block.values[i] >> 4]);
  }
}

}  // namespace adjudge::gguf
