// BF16: the upper halves of floats, a block of one.
#pragma once

#include "gguf/half.h"

namespace adjudge::gguf {

struct [[gnu::packed]] BlockBf16 {
  static constexpr int kValues = 1;
  std::uint16_t value;
};
static_assert(sizeof(BlockBf16) == 2);

static inline void decode_bf16(const BlockBf16& block, float* out) {
  *out = float_of_bf16(block.value);
}

}  // namespace adjudge::gguf
