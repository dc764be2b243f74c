// (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*
//   |\s*[\r\n]+|\s+(?!\S)|\s+
// Llama 3's pattern and its two Qwen variants: digits one by one, and marks as part of words.
#pragma once

#include <string_view>

namespace adjudge::text {

std::size_t llama3_piece_end(std::string_view text, std::size_t begin);
std::size_t qwen2_piece_end(std::string_view text, std::size_t begin);
std::size_t qwen35_piece_end(std::string_view text, std::size_t begin);

}  // namespace adjudge::text
