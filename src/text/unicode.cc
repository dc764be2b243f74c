#include "text/unicode.h"

#include <algorithm>

#include "base/size.h"

namespace adjudge::text {
namespace {

constexpr char32_t kReplacement = 0xFFFD;
constexpr char32_t kCodeMax = 0x10FFFF;

struct Range {
  char32_t begin;
  CharKind kind;
};

constexpr auto kRanges = [] {
  using enum CharKind;
  return std::to_array<Range>({
#include "text/unicode_table.inc"
  });
}();

struct Decoded {
  char32_t code = 0;
  int bytes = 0;  // 0: no sequence starts here
};

constexpr int sequence_bytes(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xC0) return 0;
  if (lead < 0xE0) return 2;
  if (lead < 0xF0) return 3;
  return lead < 0xF8 ? 4 : 0;
}

constexpr int needed_bytes(char32_t code) {
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

Decoded decode(std::string_view text, std::size_t offset) {
  const auto lead = static_cast<unsigned char>(text[offset]);
  const int bytes = sequence_bytes(lead);
  if (bytes == 0 || text.size() - offset < at(bytes)) return {};
  char32_t code = bytes == 1 ? lead : lead & (0x7Fu >> bytes);
  for (int i = 1; i < bytes; ++i) {
    const auto byte = static_cast<unsigned char>(text[offset + at(i)]);
    if ((byte & 0xC0) != 0x80) return {};
    code = code << 6 | (byte & 0x3F);
  }
  return code <= kCodeMax ? Decoded{code, bytes} : Decoded{};
}

// How much of the text's beginning is well-formed.
std::size_t well_formed_bytes(std::string_view text) {
  std::size_t offset = 0;
  while (offset < text.size()) {
    if (static_cast<unsigned char>(text[offset]) < 0x80) {
      ++offset;
      continue;
    }
    const Decoded found = decode(text, offset);
    if (found.bytes == 0 || found.bytes != needed_bytes(found.code)) break;
    offset += at(found.bytes);
  }
  return offset;
}

}  // namespace

CharKind kind_of(char32_t code) {
  const auto next =
      std::upper_bound(kRanges.begin(), kRanges.end(), code,
                       [](char32_t c, const Range& range) { return c < range.begin; });
  return std::prev(next)->kind;
}

Char char_beyond_ascii(std::string_view text, std::size_t offset) {
  const Decoded found = decode(text, offset);
  DCHECK(found.bytes > 0);
  return {kind_of(found.code), static_cast<std::uint8_t>(found.bytes)};
}

void append_utf8(char32_t code, std::string& out) {
  const int bytes = needed_bytes(code);
  if (bytes == 1) {
    out.push_back(static_cast<char>(code));
    return;
  }
  const auto lead_mark = static_cast<unsigned char>(0xF00u >> bytes);
  out.push_back(static_cast<char>(lead_mark | code >> (6 * (bytes - 1))));
  for (int i = bytes - 2; i >= 0; --i) {
    out.push_back(static_cast<char>(0x80 | (code >> (6 * i) & 0x3F)));
  }
}

std::optional<std::string> repair(std::string_view text) {
  std::size_t offset = well_formed_bytes(text);
  if (offset == text.size()) return std::nullopt;
  std::string repaired(text.substr(0, offset));
  while (offset < text.size()) {
    const Decoded found = decode(text, offset);
    append_utf8(found.bytes == 0 ? kReplacement : found.code, repaired);
    offset += at(std::max(found.bytes, 1));
  }
  return repaired;
}

}  // namespace adjudge::text
