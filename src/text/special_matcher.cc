#include "text/special_matcher.h"

#include <algorithm>
#include <numeric>

#include "text/unicode.h"

namespace adjudge::text {
namespace {

constexpr int kRoot = 0;

bool is_blank(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

std::size_t blank_begin(std::string_view text, std::size_t begin, std::size_t end) {
  while (end > begin && is_blank(text[end - 1])) --end;
  return end;
}

std::size_t blank_end(std::string_view text, std::size_t begin, std::size_t end) {
  while (begin < end && is_blank(text[begin])) ++begin;
  return begin;
}

}  // namespace

SpecialMatcher::SpecialMatcher(const Vocabulary& vocabulary, const StripRules& rules) {
  collect(vocabulary, rules);
  build_trie();
  link();
}

void SpecialMatcher::collect(const Vocabulary& vocabulary, const StripRules& rules) {
  for (Token token = 0; token < vocabulary.count(); ++token) {
    const TokenType type = vocabulary.type(token);
    const bool everywhere = type == TokenType::user_defined;
    if (!everywhere && type != TokenType::control && type != TokenType::unknown) continue;
    const std::string_view text = vocabulary.text(token);
    if (repair(text)) continue;  // no UTF-8: it could only match within a text's characters
    const bool keeps_right = std::ranges::find(rules.unless, text) != rules.unless.end();
    candidates_.push_back({.text = text,
                           .token = token,
                           .everywhere = everywhere,
                           .strips_left = text == rules.strips_left,
                           .strips_right = rules.all_strip_right && !keeps_right});
  }
  // Not a stable sort, because the reference's is not: from the same order the same library brings
  // candidates of equal length into the same one. It decides who gets the six blanks before a
  // [MASK] that strips them.
  std::ranges::sort(candidates_, std::ranges::greater{},
                    [](const Candidate& candidate) { return candidate.text.size(); });
}

// A node stands for the range of the sorted texts that share its prefix; its children are the
// groups of equal next byte in that range.
void SpecialMatcher::build_trie() {
  struct Range {
    int begin;
    int end;
    std::size_t depth;
  };
  std::vector<int> order(candidates_.size());
  std::iota(order.begin(), order.end(), 0);
  const auto text_at = [&](int index) { return candidates_[at(order[at(index)])].text; };
  std::ranges::sort(order, {}, [&](int index) { return candidates_[at(index)].text; });

  nodes_.emplace_back();
  std::vector<Range> ranges{{0, count_of(order), 0}};
  for (int node = 0; node < count_of(nodes_); ++node) {
    auto [begin, end, depth] = ranges[at(node)];
    if (begin < end && text_at(begin).size() == depth) {
      nodes_[at(node)].candidate = order[at(begin++)];
    }
    nodes_[at(node)].children_begin = count_of(nodes_);
    while (begin < end) {
      const char byte = text_at(begin)[depth];
      int group_end = begin + 1;
      while (group_end < end && text_at(group_end)[depth] == byte) ++group_end;
      nodes_.push_back({.byte = static_cast<unsigned char>(byte)});
      ranges.push_back({begin, group_end, depth + 1});
      begin = group_end;
    }
    nodes_[at(node)].children_end = count_of(nodes_);
  }
}

// Breadth first: the fallback of a node is shallower, so it is complete before it is asked.
void SpecialMatcher::link() {
  for (int c = nodes_[kRoot].children_begin; c < nodes_[kRoot].children_end; ++c) {
    root_children_[nodes_[at(c)].byte] = c;
  }
  for (int parent = 0; parent < count_of(nodes_); ++parent) {
    for (int c = nodes_[at(parent)].children_begin; c < nodes_[at(parent)].children_end; ++c) {
      Node& node = nodes_[at(c)];
      node.fallback = parent == kRoot ? kRoot : step(nodes_[at(parent)].fallback, node.byte);
      const Node& fallback = nodes_[at(node.fallback)];
      node.next_match = fallback.candidate >= 0 ? node.fallback : fallback.next_match;
    }
  }
}

int SpecialMatcher::child(int node, unsigned char byte) const {
  if (node == kRoot) return root_children_[byte];
  const auto children = std::span(nodes_).subspan(
      at(nodes_[at(node)].children_begin),
      at(nodes_[at(node)].children_end - nodes_[at(node)].children_begin));
  const auto found = std::ranges::lower_bound(children, byte, {}, &Node::byte);
  if (found == children.end() || found->byte != byte) return kRoot;
  return nodes_[at(node)].children_begin + static_cast<int>(found - children.begin());
}

int SpecialMatcher::step(int node, unsigned char byte) const {
  while (true) {
    const int next = child(node, byte);
    if (next != kRoot || node == kRoot) return next;
    node = nodes_[at(node)].fallback;
  }
}

// A longest stretch that overlapping matches cover. What is cut in one cluster does not depend on
// any other.
struct SpecialMatcher::Cluster {
  Stretch stretch;
  int candidate = -1;  // that covers it alone; -1: several compete
};

// One search: the text, and where control tokens count.
class SpecialMatcher::Search {
 public:
  Search(const SpecialMatcher& matcher, std::string_view text, std::span<const Stretch> special)
      : matcher_(matcher), text_(text), special_(special) {}

  std::vector<Cut> run() {
    find_clusters();
    for (const Cluster& cluster : clusters_) {
      if (cluster.candidate >= 0) {
        cuts_.push_back({cluster.stretch, matcher_.candidates_[at(cluster.candidate)].token});
      } else {
        cut(cluster.stretch, 0);
      }
    }
    return std::move(cuts_);
  }

 private:
  bool counts(const Candidate& candidate, std::size_t begin) const {
    if (candidate.everywhere) return true;
    const auto behind = std::ranges::upper_bound(special_, begin, {}, &Stretch::begin);
    return behind != special_.begin() && begin + candidate.text.size() <= std::prev(behind)->end;
  }

  // Of the matches that end at one place the longest covers the others.
  void find_clusters() {
    const std::vector<Node>& nodes = matcher_.nodes_;
    int node = kRoot;
    for (std::size_t i = 0; i < text_.size(); ++i) {
      node = matcher_.step(node, static_cast<unsigned char>(text_[i]));
      if (node == kRoot) continue;
      int match = nodes[at(node)].candidate >= 0 ? node : nodes[at(node)].next_match;
      for (; match != kRoot; match = nodes[at(match)].next_match) {
        const int index = nodes[at(match)].candidate;
        const Candidate& candidate = matcher_.candidates_[at(index)];
        const std::size_t begin = i + 1 - candidate.text.size();
        if (!counts(candidate, begin)) continue;
        add({{begin, i + 1}, index});
        break;
      }
    }
  }

  // A match that strips competes for the white space too.
  void add(Cluster match) {
    const Candidate& candidate = matcher_.candidates_[at(match.candidate)];
    Cluster cluster = match;
    auto& [begin, end] = cluster.stretch;
    if (candidate.strips_left) begin = blank_begin(text_, 0, begin);
    if (candidate.strips_right) end = blank_end(text_, end, text_.size());
    for (; !clusters_.empty() && clusters_.back().stretch.end > begin; clusters_.pop_back()) {
      begin = std::min(begin, clusters_.back().stretch.begin);
      end = std::max(end, clusters_.back().stretch.end);
    }
    if (begin != match.stretch.begin || end != match.stretch.end) cluster.candidate = -1;
    clusters_.push_back(cluster);
  }

  std::size_t first(const Candidate& candidate, Stretch range) const {
    const std::string_view searched = text_.substr(0, range.end);
    std::size_t match = searched.find(candidate.text, range.begin);
    while (match != std::string_view::npos && !counts(candidate, match)) {
      match = searched.find(candidate.text, match + 1);
    }
    return match;
  }

  // Every candidate in turn, the longest first, is cut out of what the ones before it left.
  void cut(Stretch range, int from) {
    for (int index = from; index < count_of(matcher_.candidates_); ++index) {
      const Candidate& candidate = matcher_.candidates_[at(index)];
      while (candidate.text.size() <= range.end - range.begin) {
        const std::size_t match = first(candidate, range);
        if (match == std::string_view::npos) break;
        Stretch taken{match, match + candidate.text.size()};
        if (candidate.strips_left) taken.begin = blank_begin(text_, range.begin, taken.begin);
        if (candidate.strips_right) taken.end = blank_end(text_, taken.end, range.end);
        cut({range.begin, taken.begin}, index + 1);
        cuts_.push_back({taken, candidate.token});
        range.begin = taken.end;
      }
    }
  }

  const SpecialMatcher& matcher_;
  std::string_view text_;
  std::span<const Stretch> special_;
  std::vector<Cluster> clusters_;
  std::vector<Cut> cuts_;
};

std::vector<Cut> SpecialMatcher::find(std::string_view text,
                                      std::span<const Stretch> special) const {
  return Search(*this, text, special).run();
}

}  // namespace adjudge::text
