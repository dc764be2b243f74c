// A prompt while it is written: the family's own words, in which special tokens are tokens, and the
// caller's text, in which they are letters. Kept as one text, so that it is split and merged across
// the borders as the reference does it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/token.h"
#include "text/tokenizer.h"

namespace adjudge {

enum class UserText {
  literal,  // never becomes a control token
  parsed,   // special tokens in it are tokens: what the reference of some families does
};

class PromptText {
 public:
  // `blanked`: a text that becomes one space wherever the caller wrote it; empty: none.
  explicit PromptText(UserText user_text = UserText::literal, std::string_view blanked = {})
      : user_text_(user_text), blanked_(blanked) {}

  PromptText& form(std::string_view text);  // the family's own words
  PromptText& user(std::string_view text);  // whatever came with the request
  PromptText& border();  // what was written so far is likely to begin other prompts as well

  const std::string& text() const { return text_; }
  Tokens encode(const text::Tokenizer& tokenizer) const;
  // How many of `tokens`, the encoded text, end before each border; a border that follows another
  // closely is left out.
  std::vector<int> borders_in(std::span<const Token> tokens,
                              const text::Tokenizer& tokenizer) const;

 private:
  // [the end before, end) of text_.
  struct Stretch {
    std::size_t end;
    bool parses_special;
  };
  void append(std::string_view text, bool parses_special);
  std::size_t find_blanked(std::string_view text, std::size_t begin) const;

  UserText user_text_;
  std::string blanked_;
  std::string text_;
  std::vector<Stretch> stretches_;    // neighbours differ in parses_special
  std::vector<std::size_t> borders_;  // ends of what was written, ascending
};

}  // namespace adjudge
