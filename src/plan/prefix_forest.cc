#include "plan/prefix_forest.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/size.h"

namespace adjudge {

namespace {

// What of a prompt has to be evaluated: nothing after the last row somebody reads, unless later
// rows can be seen.
int evaluated_length(const Prompt& prompt) {
  CHECK(!prompt.wanted.empty() && prompt.wanted.back() < count_of(prompt.tokens));
  return prompt.causal ? prompt.wanted.back() + 1 : count_of(prompt.tokens);
}

class Builder {
 public:
  Builder(std::span<const Prompt* const> prompts, std::span<const std::vector<int>> cuts)
      : prompts_(prompts), cuts_(cuts), last_segment_(prompts.size(), -1) {}

  PrefixForest build() {
    std::vector<int> order = prompts_where(true);
    for (const int i : order) {
      shared_by_all_ = i == order.front()
                           ? length(i)
                           : std::min(shared_by_all_, shared_length(order.front(), i, 0));
    }
    std::ranges::sort(order, [&](int a, int b) { return precedes(a, b); });
    split(order, 0, -1);
    for (const int i : prompts_where(false)) {
      last_segment_[at(i)] = add_segment(i, 0, length(i), -1);
    }
    place_rows();
    return std::move(forest_);
  }

 private:
  const Prompt& prompt(int index) const { return *prompts_[at(index)]; }
  int length(int index) const { return evaluated_length(prompt(index)); }

  std::vector<int> prompts_where(bool causal) const {
    std::vector<int> found;
    for (int i = 0; i < count_of(prompts_); ++i) {
      if (prompt(i).causal == causal) found.push_back(i);
    }
    return found;
  }

  // Tokens with their types, as one sequence to order and compare by.
  std::pair<Token, int> symbol(int index, int position) const {
    const Prompt& p = prompt(index);
    return {p.tokens[at(position)], p.token_types.empty() ? 0 : p.token_types[at(position)]};
  }

  int shared_length(int a, int b, int begin) const {
    const int end = std::min(length(a), length(b));
    int i = begin;
    while (i < end && symbol(a, i) == symbol(b, i)) ++i;
    return i;
  }

  // Of equals the first is first. No stable_sort: libstdc++'s is deprecated code to clang.
  bool precedes(int a, int b) const {
    const int shared = shared_length(a, b, shared_by_all_);
    if (shared == length(a) || shared == length(b)) {
      return std::pair(length(a), a) < std::pair(length(b), b);
    }
    return symbol(a, shared) < symbol(b, shared);
  }

  int add_segment(int prompt_index, int begin, int end, int parent) {
    Segment segment;
    segment.parent = parent;
    segment.causal = prompt(prompt_index).causal;
    segment.prompt = prompt_index;
    segment.begin = begin;
    segment.end = end;
    forest_.segments.push_back(std::move(segment));
    if (parent >= 0) forest_.segments[at(parent)].continued = true;
    return count_of(forest_.segments) - 1;
  }

  // The first border or cut of the group between the two places, else `end`.
  int first_cut(std::span<const int> group, int begin, int end) const {
    const auto look = [&](const std::vector<int>& places) {
      const auto next = std::ranges::upper_bound(places, begin);
      if (next != places.end()) end = std::min(end, *next);
    };
    for (const int i : group) {
      look(prompt(i).borders);
      if (!cuts_.empty()) look(cuts_[at(i)]);
    }
    return end;
  }

  bool has_border(std::span<const int> group, int position) const {
    return std::ranges::any_of(group, [&](int i) {
      return position < length(i) && std::ranges::binary_search(prompt(i).borders, position);
    });
  }

  // `group` is sorted and shares its first `begin` tokens. Sorting puts prompts with a common
  // prefix side by side, so what the whole group shares is what its first and last share.
  void split(std::span<const int> group, int begin, int parent) {
    if (group.empty()) return;
    const int end = first_cut(group, begin, shared_length(group.front(), group.back(), begin));
    if (end > begin) {
      parent = add_segment(group.front(), begin, end, parent);
      forest_.segments[at(parent)].border = has_border(group, end);
    }
    std::size_t i = 0;
    for (; i < group.size() && length(group[i]) == end; ++i) last_segment_[at(group[i])] = parent;
    while (i < group.size()) {
      const auto first = symbol(group[i], end);
      std::size_t next = i + 1;
      while (next < group.size() && symbol(group[next], end) == first) ++next;
      split(group.subspan(i, next - i), end, parent);
      i = next;
    }
  }

  int segment_of(int prompt_index, int position) const {
    int segment = last_segment_[at(prompt_index)];
    while (position < forest_.segments[at(segment)].begin)
      segment = forest_.segments[at(segment)].parent;
    return segment;
  }

  void place_rows() {
    for (int i = 0; i < count_of(prompts_); ++i) {
      for (const int position : prompt(i).wanted) {
        forest_.segments[at(segment_of(i, position))].wanted.push_back(position);
      }
      forest_.prompt_token_count += length(i);
    }
    for (Segment& segment : forest_.segments) {
      std::ranges::sort(segment.wanted);
      segment.wanted.erase(std::ranges::unique(segment.wanted).begin(), segment.wanted.end());
      forest_.evaluated_count += segment.end - segment.begin;
    }
    for (int i = 0; i < count_of(prompts_); ++i) {
      std::vector<RowPlace> places;
      for (const int position : prompt(i).wanted) {
        const int segment = segment_of(i, position);
        const std::vector<int>& wanted = forest_.segments[at(segment)].wanted;
        const auto found = std::ranges::lower_bound(wanted, position);
        places.push_back({segment, static_cast<int>(found - wanted.begin())});
      }
      forest_.rows.push_back(std::move(places));
    }
  }

  std::span<const Prompt* const> prompts_;
  std::span<const std::vector<int>> cuts_;
  std::vector<int> last_segment_;  // per prompt, the segment its last evaluated token lies in
  int shared_by_all_ =
      0;  // tokens every causal prompt begins with, so that sorting need not reread a long state
  PrefixForest forest_;
};

}  // namespace

PrefixForest build_prefix_forest(std::span<const Prompt* const> prompts,
                                 std::span<const std::vector<int>> cuts) {
  CHECK(cuts.empty() || cuts.size() == prompts.size());
  return Builder(prompts, cuts).build();
}

}  // namespace adjudge
