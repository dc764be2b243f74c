// F32: plain floats, a block of one.
#pragma once

#include "gguf/half.h"

namespace adjudge::gguf {

struct [[gnu::packed]] BlockF32 {
  static constexpr int kValues = 1;
  float value;
};
static_assert(sizeof(BlockF32) == 4);

static inline void decode_f32(const BlockF32& block, float* out) { *out = block.value; }

}  // namespace adjudge::gguf
