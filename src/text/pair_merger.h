// The merges of a file and their application to one piece: of all neighbours that have a rank, the
// pair with the lowest is merged, the leftmost of equals, until none is left (llama.cpp
// src/llama-vocab.cpp, llm_tokenizer_bpe_session). Knows neither bytes nor characters.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/pair_map.h"
#include "text/vocabulary.h"

namespace adjudge::text {

class PairMerger {
 public:
  // Below the vocabulary's count: tokens; above: texts that occur only on the way. Below zero:
  // whatever the caller stands for; it is never merged.
  using Symbol = std::int32_t;

  struct Part {
    Symbol symbol = 0;
    int bytes = 0;  // 0: merged into a part to the left
    int previous = -1;
    int next = -1;
  };

  struct Scratch;

  // `alphabet`: texts that pieces start from, whether or not a merge names them; `tokens_of` says
  // what becomes of a text that is no token.
  static Result<PairMerger> read(const gguf::Metadata& metadata, const Vocabulary& vocabulary,
                                 std::span<const std::string> alphabet,
                                 const std::function<Tokens(std::string_view)>& tokens_of);

  // The token with this text, or the symbol of a text that occurs on the way.
  std::optional<Symbol> find(std::string_view text) const;

  // Adds a part behind the ones that are there.
  static void push(Symbol symbol, int bytes, Scratch& scratch);
  // Merges the parts; what is left hangs together by `next`, from the first on.
  void merge(Scratch& scratch) const;
  // Appends the tokens of a symbol that is not below zero.
  void append(Symbol symbol, Tokens& out) const;

 private:
  // A pair that may be merged, unless one of its parts has grown or gone since.
  struct Pair {
    int rank = 0;
    int left = 0;
    int bytes = 0;  // of both
    Symbol symbol = 0;
  };

  PairMerger(const Vocabulary& vocabulary, std::size_t merge_count)
      : vocabulary_(&vocabulary), merges_(merge_count) {}
  Symbol symbol_of(std::string_view text);
  void offer(int left, Scratch& scratch) const;

  const Vocabulary* vocabulary_;
  PairMap merges_;
  std::unordered_map<std::string, Symbol> others_;  // the symbols that are no tokens
  std::vector<Tokens> leftovers_;                   // ... and what becomes of them

 public:
  struct Scratch {
    std::vector<Part> parts;
    std::vector<Pair> heap;
  };
};

}  // namespace adjudge::text
