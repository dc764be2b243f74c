#include "text/byte_pair_merger.h"

#include <algorithm>
#include <unordered_map>

#include "base/try.h"
#include "text/byte_alphabet.h"

namespace adjudge::text {
namespace {

constexpr std::string_view kMerges = "tokenizer.ggml.merges";

// Numbers texts: tokens by their id, others from the vocabulary's count on.
class SymbolTable {
 public:
  explicit SymbolTable(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  std::int32_t symbol_of(std::string_view text) {
    if (const auto token = vocabulary_.find(text)) return *token;
    const int next = vocabulary_.count() + count_of(others_);
    const auto [entry, is_new] = index_.try_emplace(std::string(text), next);
    if (is_new) others_.emplace_back(text);
    return entry->second;
  }

  const std::vector<std::string>& others() const { return others_; }

 private:
  const Vocabulary& vocabulary_;
  std::unordered_map<std::string, std::int32_t> index_;
  std::vector<std::string> others_;
};

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

BytePairMerger::BytePairMerger(const Vocabulary& vocabulary, bool takes_whole_words,
                               std::size_t merge_count)
    : vocabulary_(&vocabulary),
      takes_whole_words_(takes_whole_words),
      merges_(merge_count),
      knowledge_(std::make_unique<std::atomic<Knowledge>[]>(at(vocabulary.count()))) {}

Result<BytePairMerger> BytePairMerger::read(const gguf::Metadata& metadata,
                                            const Vocabulary& vocabulary, bool takes_whole_words) {
  ADJ_TRY(const std::vector<std::string_view> stored, metadata.strings(kMerges));
  BytePairMerger merger(vocabulary, takes_whole_words, stored.size());
  SymbolTable symbols(vocabulary);
  for (int byte = 0; byte < 256; ++byte) {
    const char raw = static_cast<char>(byte);
    std::string letter;
    append_letters({&raw, 1}, letter);
    merger.byte_symbols_[at(byte)] = symbols.symbol_of(letter);
  }
  std::string joined;
  for (int rank = 0; rank < count_of(stored); ++rank) {
    const std::string_view pair = stored[at(rank)];
    const std::size_t space = pair.find(' ', 1);
    if (space == std::string_view::npos) continue;  // names no pair; its rank stays empty
    const std::string_view left = pair.substr(0, space);
    const std::string_view right = pair.substr(space + 1);
    joined.assign(left).append(right);
    merger.merges_.add(symbols.symbol_of(left), symbols.symbol_of(right),
                       {rank, symbols.symbol_of(joined)});
  }
  for (const std::string& text : symbols.others()) {
    merger.leftovers_.push_back(tokens_of_bytes(text, vocabulary));
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
  constexpr auto is_later = [](const Pair& a, const Pair& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.left > b.left;
  };
  split_into_bytes(piece, scratch);
  auto& [letters, parts, heap] = scratch;
  std::ranges::make_heap(heap, is_later);
  while (!heap.empty()) {
    std::ranges::pop_heap(heap, is_later);
    const Pair pair = heap.back();
    heap.pop_back();
    Part& left = parts[at(pair.left)];
    if (left.bytes == 0 || left.next < 0) continue;
    Part& right = parts[at(left.next)];
    if (left.bytes + right.bytes != pair.bytes) continue;

    left.symbol = pair.symbol;
    left.bytes = pair.bytes;
    left.next = right.next;
    right.bytes = 0;
    if (left.next >= 0) parts[at(left.next)].previous = pair.left;
    for (const int neighbour : {left.previous, pair.left}) {
      const std::size_t before = heap.size();
      offer(neighbour, scratch);
      if (heap.size() > before) std::ranges::push_heap(heap, is_later);
    }
  }
  for (int i = parts.empty() ? -1 : 0; i >= 0; i = parts[at(i)].next)
    append(parts[at(i)].symbol, out);
}

void BytePairMerger::split_into_bytes(std::string_view piece, Scratch& scratch) const {
  const int count = count_of(piece);
  scratch.parts.clear();
  scratch.heap.clear();
  for (int i = 0; i < count; ++i) {
    const Symbol symbol = byte_symbols_[static_cast<unsigned char>(piece[at(i)])];
    scratch.parts.push_back({symbol, 1, i - 1, i + 1 < count ? i + 1 : -1});
  }
  for (int i = 0; i < count; ++i) offer(i, scratch);
}

// Adds the part and its right neighbour at the end of the heap, if they have a rank.
void BytePairMerger::offer(int left, Scratch& scratch) const {
  if (left < 0 || scratch.parts[at(left)].next < 0) return;
  const Part& first = scratch.parts[at(left)];
  const Part& second = scratch.parts[at(first.next)];
  if (const Merge* merge = merges_.find(first.symbol, second.symbol)) {
    scratch.heap.push_back({merge->rank, left, first.bytes + second.bytes, merge->symbol});
  }
}

void BytePairMerger::append(Symbol symbol, Tokens& out) const {
  if (vocabulary_->has(symbol)) {
    out.push_back(symbol);
    return;
  }
  const Tokens& tokens = leftovers_[at(symbol - vocabulary_->count())];
  out.insert(out.end(), tokens.begin(), tokens.end());
}

}  // namespace adjudge::text
