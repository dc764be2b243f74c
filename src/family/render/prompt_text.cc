#include "family/render/prompt_text.h"

namespace adjudge {

PromptText& PromptText::form(std::string_view text) {
  append(text, true);
  return *this;
}

PromptText& PromptText::user(std::string_view text) {
  append(text, user_text_ == UserText::parsed);
  return *this;
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
