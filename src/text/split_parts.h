// Parts that the patterns of several splits share.
#pragma once

#include <string_view>

#include "text/unicode.h"

namespace adjudge::text {

inline bool is_newline(char byte) { return byte == '\n' || byte == '\r'; }

// Bytes of 's 't 'm 'd 're 've 'll at `begin`, or 0.
std::size_t contraction_bytes(std::string_view text, std::size_t begin, bool ignores_case);

// Skips characters as long as `wanted` says so.
template <class Wanted>
std::size_t skip(std::string_view text, std::size_t offset, Wanted wanted) {
  for (Char c = char_at(text, offset); wanted(c.kind); c = char_at(text, offset)) offset += c.bytes;
  return offset;
}

// The end of the white space at `begin` by \s+(?!\S)|\s+: before something visible its last
// character stays outside, unless it is the only one.
std::size_t blank_end(std::string_view text, std::size_t begin);

}  // namespace adjudge::text
