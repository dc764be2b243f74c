// The tokens of a file: texts as stored, types, and the way from a text to its token. Owns its
// texts. Types are those the reference works with, which corrects some by name (llama.cpp
// src/llama-vocab.cpp, impl::load).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/size.h"
#include "base/token.h"
#include "gguf/metadata.h"
#include "text/tokenizer.h"

namespace adjudge::text {

class Vocabulary {
 public:
  static Result<Vocabulary> read(const gguf::Metadata& metadata);

  int count() const { return count_of(texts_); }
  bool has(Token token) const { return token >= 0 && token < count(); }
  std::string_view text(Token token) const { return texts_[at(token)]; }
  TokenType type(Token token) const { return types_[at(token)]; }
  std::optional<Token> find(std::string_view text) const;

 private:
  // Where a text is in the index: its token, and enough of its hash to tell most others apart.
  struct Slot {
    std::uint32_t hash = 0;
    Token token = -1;  // -1: free
  };

  Vocabulary() = default;
  Status read_texts(const gguf::Metadata& metadata);
  Status read_types(const gguf::Metadata& metadata);
  Status correct_types(const gguf::Metadata& metadata);
  void set_type(std::string_view text, TokenType type);
  std::size_t slot_of(std::string_view text, std::uint32_t hash) const;

  std::vector<std::string> texts_;
  std::vector<TokenType> types_;
  // Open addressing, at most half full: the general map costs two cache misses more, and every word
  // of every text asks.
  std::vector<Slot> slots_;
};

}  // namespace adjudge::text
