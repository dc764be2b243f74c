// Byte-pair encoding of one piece, from its bytes (llama.cpp src/llama-vocab.cpp,
// llm_tokenizer_bpe_session). Knows nothing about how texts are cut into pieces.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "text/pair_merger.h"
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
  enum class Knowledge : std::uint8_t { none, merges_to_itself, merges_to_others };

  BytePairMerger(const Vocabulary& vocabulary, PairMerger merger, bool takes_whole_words);
  void merge(std::string_view piece, Scratch& scratch, Tokens& out) const;

  const Vocabulary* vocabulary_;
  PairMerger merger_;
  bool takes_whole_words_;
  std::array<PairMerger::Symbol, 256> byte_symbols_{};
  // What was found out about words that are tokens. Only facts are ever written, so threads need
  // not agree on the order.
  std::unique_ptr<std::atomic<Knowledge>[]> knowledge_;
};

struct BytePairMerger::Scratch {
  std::string letters;
  PairMerger::Scratch merging;
};

}  // namespace adjudge::text
