#include "text/byte_pair_merger.h"

#include <vector>

#include "base/try.h"
#include "text/byte_alphabet.h"

namespace adjudge::text {
namespace {

// What the reference makes of a text that is no token: the tokens of its bytes as stored, where
// there are such tokens.
Tokens tokens_of_bytes(std::string_view text, const Vocabulary& vocabulary) {
  Tokens tokens;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (const auto token = vocabulary.find(text.substr(i, 1))) tokens.push_back(*token);
  }
  return tokens;
}

}  // namespace

BytePairMerger::BytePairMerger(const Vocabulary& vocabulary, PairMerger merger,
                               bool takes_whole_words)
    : vocabulary_(&vocabulary),
      merger_(std::move(merger)),
      takes_whole_words_(takes_whole_words),
      knowledge_(std::make_unique<std::atomic<Knowledge>[]>(at(vocabulary.count()))) {}

Result<BytePairMerger> BytePairMerger::read(const gguf::Metadata& metadata,
                                            const Vocabulary& vocabulary, bool takes_whole_words) {
  std::vector<std::string> letters(256);
  for (int byte = 0; byte < 256; ++byte) {
    const char raw = static_cast<char>(byte);
    append_letters({&raw, 1}, letters[at(byte)]);
  }
  const auto tokens_of = [&](std::string_view text) { return tokens_of_bytes(text, vocabulary); };
  ADJ_TRY(PairMerger pairs, PairMerger::read(metadata, vocabulary, letters, tokens_of));
  BytePairMerger merger(vocabulary, std::move(pairs), takes_whole_words);
  for (int byte = 0; byte < 256; ++byte) {
    merger.byte_symbols_[at(byte)] = merger.merger_.find(letters[at(byte)]).value();
  }
  return merger;
}

void BytePairMerger::encode(std::string_view piece, Scratch& scratch, Tokens& out) const {
  scratch.letters.clear();
  append_letters(piece, scratch.letters);
  const auto token = vocabulary_->find(scratch.letters);
  if (!token.has_value()) {
    merge(piece, scratch, out);
    return;
  }
  std::atomic<Knowledge>& knowledge = knowledge_[at(*token)];
  const Knowledge known = knowledge.load(std::memory_order_relaxed);
  if (takes_whole_words_ || known == Knowledge::merges_to_itself) {
    out.push_back(*token);
    return;
  }
  const std::size_t before = out.size();
  merge(piece, scratch, out);
  if (known == Knowledge::none) {
    const bool is_itself = out.size() == before + 1 && out.back() == *token;
    knowledge.store(is_itself ? Knowledge::merges_to_itself : Knowledge::merges_to_others,
                    std::memory_order_relaxed);
  }
}

void BytePairMerger::merge(std::string_view piece, Scratch& scratch, Tokens& out) const {
  std::vector<PairMerger::Part>& parts = scratch.merging.parts;
  parts.clear();
  for (const char byte : piece) {
    PairMerger::push(byte_symbols_[static_cast<unsigned char>(byte)], 1, scratch.merging);
  }
  merger_.merge(scratch.merging);
  for (int i = parts.empty() ? -1 : 0; i >= 0; i = parts[at(i)].next) {
    merger_.append(parts[at(i)].symbol, out);
  }
}

}  // namespace adjudge::text
