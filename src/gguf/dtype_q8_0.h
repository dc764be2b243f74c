// Q8_0: 32 signed bytes times one scale.
#pragma once

#include "gguf/half.h"

namespace adjudge::gguf {

struct [[gnu::packed]] BlockQ8_0 {
  static constexpr int kValues = 32;
  std::uint16_t scale;  // half
  std::int8_t values[32];
};
static_assert(sizeof(BlockQ8_0) == 34);

static inline void decode_q8_0(const BlockQ8_0& block, float* out) {
  const float scale = float_of_half(block.scale);
  for (int i = 0; i < 32; ++i) out[i] = static_cast<float>(block.values[i]) * scale;
}

}  // namespace adjudge::gguf
