#include "text/byte_alphabet.h"

#include <array>
#include <cstdint>

#include "text/unicode.h"

namespace adjudge::text {
namespace {

constexpr int kShiftedCount = 68;  // bytes that are not printable and move to U+0100 and up

constexpr bool stands_for_itself(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

// A letter in UTF-8: all of them need one or two bytes.
struct Letter {
  std::array<char, 2> utf8{};
  std::uint8_t bytes = 0;
};

struct Alphabet {
  std::array<Letter, 256> letters{};
  std::array<std::int16_t, 256 + kShiftedCount> bytes{};  // by code point; -1: no letter
};

constexpr Alphabet make_alphabet() {
  Alphabet alphabet;
  alphabet.bytes.fill(-1);
  int shifted = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    const int code = stands_for_itself(byte) ? byte : shifted++;
    Letter& letter = alphabet.letters[static_cast<std::size_t>(byte)];
    if (code < 0x80) {
      letter = {{static_cast<char>(code)}, 1};
    } else {
      letter = {{static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 0x3F))}, 2};
    }
    alphabet.bytes[static_cast<std::size_t>(code)] = static_cast<std::int16_t>(byte);
  }
  return alphabet;
}

constexpr Alphabet kAlphabet = make_alphabet();

}  // namespace

void append_letters(std::string_view bytes, std::string& out) {
  for (const char byte : bytes) {
    const Letter& letter = kAlphabet.letters[static_cast<unsigned char>(byte)];
    out.append(letter.utf8.data(), letter.bytes);
  }
}

std::string bytes_of_letters(std::string_view letters) {
  std::string bytes;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const auto lead = static_cast<unsigned char>(letters[i]);
    std::size_t code = lead;
    // Letters beyond ASCII are U+00A1 to U+0143: two bytes.
    const unsigned next = i + 1 < letters.size() ? static_cast<unsigned char>(letters[i + 1]) : 0;
    const bool paired = (lead & 0xE0) == 0xC0 && (next & 0xC0) == 0x80;
    if (paired) code = (lead & 0x1Fu) << 6 | (next & 0x3Fu);
    const bool known = (paired || lead < 0x80) && code < kAlphabet.bytes.size();
    if (known && kAlphabet.bytes[code] >= 0) {
      bytes.push_back(static_cast<char>(kAlphabet.bytes[code]));
      i += paired ? 1 : 0;
    } else {
      bytes.push_back(letters[i]);
    }
  }
  return bytes;
}

}  // namespace adjudge::text
