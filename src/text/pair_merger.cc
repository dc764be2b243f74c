#include "text/pair_merger.h"

#include <algorithm>

#include "base/try.h"

namespace adjudge::text {
namespace {

constexpr std::string_view kMerges = "tokenizer.ggml.merges";

}  // namespace

Result<PairMerger> PairMerger::read(const gguf::Metadata& metadata, const Vocabulary& vocabulary,
                                    std::span<const std::string> alphabet,
                                    const std::function<Tokens(std::string_view)>& tokens_of) {
  ADJ_TRY(const std::vector<std::string_view> stored, metadata.strings(kMerges));
  PairMerger merger(vocabulary, stored.size());
  for (const std::string& text : alphabet) merger.symbol_of(text);
  std::string joined;
  for (int rank = 0; rank < count_of(stored); ++rank) {
    const std::string_view pair = stored[at(rank)];
    const std::size_t space = pair.find(' ', 1);
    if (space == std::string_view::npos) continue;  // names no pair; its rank stays empty
    const std::string_view left = pair.substr(0, space);
    const std::string_view right = pair.substr(space + 1);
    joined.assign(left).append(right);
    const Symbol left_symbol = merger.symbol_of(left), right_symbol = merger.symbol_of(right);
    merger.merges_.add(left_symbol, right_symbol, {rank, merger.symbol_of(joined)});
  }
  merger.leftovers_.resize(merger.others_.size());
  for (const auto& [text, symbol] : merger.others_) {
    merger.leftovers_[at(symbol - vocabulary.count())] = tokens_of(text);
  }
  return merger;
}

PairMerger::Symbol PairMerger::symbol_of(std::string_view text) {
  if (const auto token = vocabulary_->find(text)) return *token;
  const Symbol next = vocabulary_->count() + count_of(others_);
  return others_.try_emplace(std::string(text), next).first->second;
}

std::optional<PairMerger::Symbol> PairMerger::find(std::string_view text) const {
  if (const auto token = vocabulary_->find(text)) return token;
  const auto other = others_.find(std::string(text));
  return other == others_.end() ? std::nullopt : std::optional<Symbol>(other->second);
}

void PairMerger::push(Symbol symbol, int bytes, Scratch& scratch) {
  const int index = count_of(scratch.parts);
  if (index > 0) scratch.parts.back().next = index;
  scratch.parts.push_back({symbol, bytes, index - 1, -1});
}

void PairMerger::merge(Scratch& scratch) const {
  constexpr auto is_later = [](const Pair& a, const Pair& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.left > b.left;
  };
  auto& [parts, heap] = scratch;
  heap.clear();
  for (int i = 0; i < count_of(parts); ++i) offer(i, scratch);
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
}

// Adds the part and its right neighbour at the end of the heap, if they have a rank.
void PairMerger::offer(int left, Scratch& scratch) const {
  if (left < 0 || scratch.parts[at(left)].next < 0) return;
  const Part& first = scratch.parts[at(left)];
  const Part& second = scratch.parts[at(first.next)];
  if (first.symbol < 0 || second.symbol < 0) return;
  if (const Merge* merge = merges_.find(first.symbol, second.symbol)) {
    scratch.heap.push_back({merge->rank, left, first.bytes + second.bytes, merge->symbol});
  }
}

void PairMerger::append(Symbol symbol, Tokens& out) const {
  if (vocabulary_->has(symbol)) {
    out.push_back(symbol);
    return;
  }
  const Tokens& tokens = leftovers_[at(symbol - vocabulary_->count())];
  out.insert(out.end(), tokens.begin(), tokens.end());
}

}  // namespace adjudge::text
