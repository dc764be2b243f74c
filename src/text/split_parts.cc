#include "text/split_parts.h"

namespace adjudge::text {

std::size_t contraction_bytes(std::string_view text, std::size_t begin, bool ignores_case) {
  if (text[begin] != '\'') return 0;
  const auto letter = [&](std::size_t index) {
    const std::size_t offset = begin + index;
    if (offset >= text.size()) return '\0';
    return static_cast<char>(ignores_case ? text[offset] | 0x20 : text[offset]);
  };
  const char first = letter(1);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return 2;
  const char second = letter(2);
  const bool is_long =
      (second == 'e' && (first == 'r' || first == 'v')) || (second == 'l' && first == 'l');
  return is_long ? 3 : 0;
}

std::size_t blank_end(std::string_view text, std::size_t begin) {
  std::size_t last = begin;
  std::size_t end = begin;
  for (Char c = char_at(text, end); c.kind == CharKind::space; c = char_at(text, end)) {
    last = end;
    end += c.bytes;
  }
  return end < text.size() && last > begin ? last : end;
}

}  // namespace adjudge::text
