// The tokens of a file: texts as stored, types, and the way from a text to its token. Owns its
// texts. Types are those the reference works with, which corrects some by name (llama.cpp
// src/llama-vocab.cpp, impl::load).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/size.h"
#include "base/token.h"
#include "gguf/metadata.h"
#include "text/tokenizer.h"

namespace adjudge::text {

class Vocabulary {
 public:
  static Result<Vocabulary> read(const gguf::Metadata& metadata);

  // The index points into texts_, which a move keeps where they are and a copy would not.
  Vocabulary(Vocabulary&&) = default;
  Vocabulary& operator=(Vocabulary&&) = default;

  int count() const { return count_of(texts_); }
  bool has(Token token) const { return token >= 0 && token < count(); }
  std::string_view text(Token token) const { return texts_[at(token)]; }
  TokenType type(Token token) const { return types_[at(token)]; }
  std::optional<Token> find(std::string_view text) const;

 private:
  Vocabulary() = default;
  Status read_texts(const gguf::Metadata& metadata);
  Status read_types(const gguf::Metadata& metadata);
  Status correct_types(const gguf::Metadata& metadata);
  void set_type(std::string_view text, TokenType type);

  std::vector<std::string> texts_;
  std::vector<TokenType> types_;
  std::unordered_map<std::string_view, Token> index_;
};

}  // namespace adjudge::text
