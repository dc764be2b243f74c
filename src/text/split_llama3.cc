#include "text/split_llama3.h"

#include "text/split_parts.h"

namespace adjudge::text {
namespace {

struct Rules {
  int digits_max;
  bool marks_belong_to_words;
};

template <Rules rules>
bool is_word(CharKind kind) {
  return kind == CharKind::letter || (rules.marks_belong_to_words && kind == CharKind::mark);
}

template <Rules rules>
bool is_symbol(CharKind kind) {
  return kind == CharKind::other || (!rules.marks_belong_to_words && kind == CharKind::mark);
}

template <Rules rules>
std::size_t digits_end(std::string_view text, std::size_t begin) {
  return skip(text, begin, [left = rules.digits_max](CharKind kind) mutable {
    return kind == CharKind::number && left-- > 0;
  });
}

// \s*[\r\n]+|\s+(?!\S)|\s+
std::size_t blank_or_lines_end(std::string_view text, std::size_t begin) {
  const std::size_t end = skip(text, begin, [](CharKind kind) { return kind == CharKind::space; });
  const std::size_t newline = text.substr(begin, end - begin).find_last_of("\r\n");
  return newline == std::string_view::npos ? blank_end(text, begin) : begin + newline + 1;
}

template <Rules rules>
std::size_t piece_end(std::string_view text, std::size_t begin) {
  if (const std::size_t bytes = contraction_bytes(text, begin, true)) return begin + bytes;
  const Char first = char_at(text, begin);
  if (first.kind == CharKind::number) return digits_end<rules>(text, begin);

  const std::size_t second = begin + first.bytes;
  const bool leads_word = !is_newline(text[begin]) && is_word<rules>(char_at(text, second).kind);
  if (is_word<rules>(first.kind) || leads_word) return skip(text, second, is_word<rules>);

  const std::size_t symbols = text[begin] == ' ' ? second : begin;
  if (is_symbol<rules>(char_at(text, symbols).kind)) {
    std::size_t end = skip(text, symbols, is_symbol<rules>);
    while (end < text.size() && is_newline(text[end])) ++end;
    return end;
  }
  return blank_or_lines_end(text, begin);
}

}  // namespace

std::size_t llama3_piece_end(std::string_view text, std::size_t begin) {
  return piece_end<Rules{.digits_max = 3, .marks_belong_to_words = false}>(text, begin);
}

std::size_t qwen2_piece_end(std::string_view text, std::size_t begin) {
  return piece_end<Rules{.digits_max = 1, .marks_belong_to_words = false}>(text, begin);
}

std::size_t qwen35_piece_end(std::string_view text, std::size_t begin) {
  return piece_end<Rules{.digits_max = 1, .marks_belong_to_words = true}>(text, begin);
}

}  // namespace adjudge::text
