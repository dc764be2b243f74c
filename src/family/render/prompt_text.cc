#include "family/render/prompt_text.h"

namespace adjudge {

PromptText& PromptText::form(std::string_view text) {
  append(text, true);
  return *this;
}

PromptText& PromptText::user(std::string_view text) {
  const bool parses_special = user_text_ == UserText::parsed;
  std::size_t begin = 0;
  for (std::size_t found = find_blanked(text, begin); found != std::string_view::npos;
       found = find_blanked(text, begin)) {
    append(text.substr(begin, found - begin), parses_special);
    append(" ", parses_special);
    begin = found + blanked_.size();
  }
  append(text.substr(begin), parses_special);
  return *this;
}

std::size_t PromptText::find_blanked(std::string_view text, std::size_t begin) const {
  return blanked_.empty() ? std::string_view::npos : text.find(blanked_, begin);
}

// Neighbours of one kind become one stretch: the reference that parses user text finds special
// tokens across its borders too.
void PromptText::append(std::string_view text, bool parses_special) {
  if (text.empty()) return;
  text_ += text;
  if (!stretches_.empty() && stretches_.back().parses_special == parses_special) {
    stretches_.back().end = text_.size();
    return;
  }
  stretches_.push_back({text_.size(), parses_special});
}

Tokens PromptText::encode(const text::Tokenizer& tokenizer) const {
  std::vector<text::Piece> pieces;
  std::size_t begin = 0;
  for (const Stretch& stretch : stretches_) {
    const std::string_view whole = text_;
    pieces.push_back({whole.substr(begin, stretch.end - begin), stretch.parses_special});
    begin = stretch.end;
  }
  return tokenizer.encode(pieces);
}

}  // namespace adjudge
