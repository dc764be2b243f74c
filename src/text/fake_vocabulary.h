// A small tokenizer file in memory, for tests: the byte alphabet, merges and special tokens, and
// whatever a test wants to damage.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gguf/metadata.h"
#include "text/byte_alphabet.h"
#include "text/tokenizer.h"

namespace adjudge::text {

struct FakeVocabulary {
  std::vector<std::string> tokens;
  std::vector<std::int64_t> types;
  std::vector<std::string> merges;
  std::string model = "gpt2";
  std::string pre = "qwen2";
  std::string name = "fake";

  // Starts with the letters of the 256 bytes, in their order.
  FakeVocabulary() {
    for (int byte = 0; byte < 256; ++byte) {
      const char raw = static_cast<char>(byte);
      std::string letter;
      append_letters({&raw, 1}, letter);
      add(letter, TokenType::normal);
    }
  }

  FakeVocabulary& add(std::string_view text, TokenType type) {
    tokens.emplace_back(text);
    types.push_back(static_cast<int>(type));
    return *this;
  }

  // A merge, and the token it makes.
  FakeVocabulary& merge(std::string_view left, std::string_view right) {
    merges.push_back(std::string(left) + " " + std::string(right));
    return add(std::string(left) + std::string(right), TokenType::normal);
  }

  // Borrows from this object.
  gguf::Metadata metadata() const {
    gguf::Metadata metadata;
    metadata.add("general.name", std::string_view(name));
    metadata.add("tokenizer.ggml.model", std::string_view(model));
    metadata.add("tokenizer.ggml.pre", std::string_view(pre));
    metadata.add("tokenizer.ggml.tokens", views(tokens));
    metadata.add("tokenizer.ggml.token_type", types);
    metadata.add("tokenizer.ggml.merges", views(merges));
    return metadata;
  }

 private:
  static std::vector<std::string_view> views(const std::vector<std::string>& texts) {
    return {texts.begin(), texts.end()};
  }
};

}  // namespace adjudge::text
