#include "gguf/quoted.h"

namespace adjudge::gguf {

namespace {

constexpr std::size_t kShownMax = 80;  // longer than any name we know, short enough for one line

}  // namespace

std::string quoted(std::string_view text) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out = "\"";
  for (const char c : text.substr(0, kShownMax)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte > 0x7e) {
      out += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + (text.size() > kShownMax ? "\"..." : "\"");
}

}  // namespace adjudge::gguf
