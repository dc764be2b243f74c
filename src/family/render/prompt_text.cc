#include "family/render/prompt_text.h"

#include "base/size.h"

namespace adjudge {

namespace {

// Fewer tokens are evaluated sooner than they are looked up and kept.
constexpr int kBorderDistanceMin = 16;

}  // namespace

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

PromptText& PromptText::border() {
  borders_.push_back(text_.size());
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

std::vector<int> PromptText::borders_in(std::span<const Token> tokens,
                                        const text::Tokenizer& tokenizer) const {
  std::vector<int> found;
  std::size_t end = 0;  // of the tokens before `count`, in the text
  int count = 0;
  for (const std::size_t border : borders_) {
    for (; count < count_of(tokens); ++count) {
      const std::size_t bytes = tokenizer.text_of(tokens[at(count)]).size();
      if (end + bytes > border) break;
      end += bytes;
    }
    if (count - (found.empty() ? 0 : found.back()) >= kBorderDistanceMin) found.push_back(count);
  }
  return found;
}

}  // namespace adjudge
