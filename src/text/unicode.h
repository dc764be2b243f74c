// What the splits know about characters: letter, mark, number, white space or anything else.
// Unicode 15.1, as the reference (llama.cpp src/unicode-data.cpp) has it for every code point.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace adjudge::text {

// `end` is what stands behind the last character.
enum class CharKind : std::uint8_t { end, other, letter, mark, number, space };

struct Char {
  CharKind kind = CharKind::end;
  std::uint8_t bytes = 0;
};

CharKind kind_of(char32_t code);

// The character that starts at `offset` of UTF-8 text as repair() leaves it.
Char char_beyond_ascii(std::string_view text, std::size_t offset);

inline constexpr std::array<CharKind, 128> kAsciiKinds = [] {
  std::array<CharKind, 128> kinds{};
  for (std::size_t code = 0; code < kinds.size(); ++code) {
    const bool letter = (code | 0x20) >= 'a' && (code | 0x20) <= 'z';
    const bool space = code == ' ' || (code >= '\t' && code <= '\r');
    kinds[code] = letter                       ? CharKind::letter
                  : code >= '0' && code <= '9' ? CharKind::number
                  : space                      ? CharKind::space
                                               : CharKind::other;
  }
  return kinds;
}();

inline Char char_at(std::string_view text, std::size_t offset) {
  if (offset >= text.size()) return {};
  const auto byte = static_cast<unsigned char>(text[offset]);
  if (byte < kAsciiKinds.size()) return {kAsciiKinds[byte], 1};
  return char_beyond_ascii(text, offset);
}

void append_utf8(char32_t code, std::string& out);

// The text as the reference reads bytes that are not UTF-8, or nullopt where it is well-formed:
// what starts no sequence becomes U+FFFD byte by byte; sequences that are longer than needed become
// the character they spell. Surrogates stay. Beyond U+10FFFF, where the reference fails, bytes
// become U+FFFD too.
std::optional<std::string> repair(std::string_view text);

}  // namespace adjudge::text
