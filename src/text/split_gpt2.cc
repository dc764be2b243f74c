#include "text/split_gpt2.h"

#include "text/split_parts.h"

namespace adjudge::text {
namespace {

// The pattern does not tell marks from punctuation.
CharKind merged(CharKind kind) { return kind == CharKind::mark ? CharKind::other : kind; }

}  // namespace

std::size_t gpt2_piece_end(std::string_view text, std::size_t begin) {
  if (const std::size_t bytes = contraction_bytes(text, begin, false)) return begin + bytes;
  const std::size_t body = text[begin] == ' ' ? begin + 1 : begin;
  const CharKind kind = merged(char_at(text, body).kind);
  if (kind == CharKind::space || kind == CharKind::end) return blank_end(text, begin);
  return skip(text, body, [kind](CharKind next) { return merged(next) == kind; });
}

}  // namespace adjudge::text
