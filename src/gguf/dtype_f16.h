// F16: IEEE half precision, a block of one.
#pragma once

#include "gguf/half.h"

namespace adjudge::gguf {

struct [[gnu::packed]] BlockF16 {
  static constexpr int kValues = 1;
  std::uint16_t value;
};
static_assert(sizeof(BlockF16) == 2);

static inline void decode_f16(const BlockF16& block, float* out) {
  *out = float_of_half(block.value);
}

}  // namespace adjudge::gguf
