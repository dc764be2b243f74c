// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// GPT-2 and its many descendants, ModernBERT among them.
#pragma once

#include <string_view>

namespace adjudge::text {

std::size_t gpt2_piece_end(std::string_view text, std::size_t begin);

}  // namespace adjudge::text
