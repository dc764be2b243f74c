// Byte-pair encoding of one piece: neighbours are merged, the pair with the lowest rank first and
// the leftmost of equals, until no pair has a rank (llama.cpp src/llama-vocab.cpp,
// llm_tokenizer_bpe_session). Knows nothing about how texts are cut into pieces.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/pair_map.h"
#include "text/vocabulary.h"

namespace adjudge::text {

class BytePairMerger {
 public:
  // `takes_whole_words`: a piece that is a token is taken without merging.
  static Result<BytePairMerger> read(const gguf::Metadata& metadata, const Vocabulary& vocabulary,
                                     bool takes_whole_words);

  // What one thread needs while it encodes.
  struct Scratch;

  // Appends the tokens of `piece`.
  void encode(std::string_view piece, Scratch& scratch, Tokens& out) const;

 private:
  // Symbols below the vocabulary's count are tokens; the others are texts that occur only on the
  // way.
  using Symbol = std::int32_t;

  struct Part {
    Symbol symbol = 0;
    int bytes = 0;  // 0: merged into a part to the left
    int previous = -1;
    int next = -1;
  };
  // A pair that may be merged, unless one of its parts has grown or gone since.
  struct Pair {
    int rank = 0;
    int left = 0;
    int bytes = 0;  // of both
    Symbol symbol = 0;
  };

  enum class Knowledge : std::uint8_t { none, merges_to_itself, merges_to_others };

  explicit BytePairMerger(const Vocabulary& vocabulary, bool takes_whole_words,
                          std::size_t merge_count);
  void merge(std::string_view piece, Scratch& scratch, Tokens& out) const;
  void split_into_bytes(std::string_view piece, Scratch& scratch) const;
  void offer(int left, Scratch& scratch) const;
  void append(Symbol symbol, Tokens& out) const;

  const Vocabulary* vocabulary_;
  bool takes_whole_words_;
  PairMap merges_;
  std::array<Symbol, 256> byte_symbols_{};
  std::vector<Tokens> leftovers_;  // of the symbols that are no tokens
  // What was found out about words that are tokens. Only facts are ever written, so threads need
  // not agree on the order.
  std::unique_ptr<std::atomic<Knowledge>[]> knowledge_;
};

struct BytePairMerger::Scratch {
  std::string letters;
  std::vector<Part> parts;
  std::vector<Pair> heap;
};

}  // namespace adjudge::text
