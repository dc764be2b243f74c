#include "family/compile/marker_cut.h"

#include <algorithm>
#include <map>
#include <span>

#include "base/size.h"

namespace adjudge {
namespace {

// What training gave an option's text; its marker comes on top.
constexpr int kOptionTextMax = 48;
// When the options leave less than this for the question, they are shortened alike ...
constexpr int kQuestionReserve = 16;
// ... but to no fewer tokens than this, and the question to no fewer than that.
constexpr int kOptionTokensMin = 4;
constexpr int kQuestionTokensMin = 8;

using Span = std::span<const Token>;

// [CLS] question [SEP] options [SEP] state [SEP], each option with its marker.
struct Parts {
  Token first = 0;
  Span question;
  std::vector<Span> options;
  Span tail;  // the state, between its two separators
};

std::optional<Parts> part(Span tokens, int option_count, const MarkerTokens& special) {
  std::vector<int> markers;
  for (int i = 0; i < count_of(tokens); ++i) {
    if (tokens[at(i)] == special.marker) markers.push_back(i);
  }
  if (count_of(markers) != option_count || markers.empty()) return std::nullopt;
  const int head_end = markers.front() - 1;
  if (head_end < 1 || tokens[at(head_end)] != special.separator) return std::nullopt;
  const auto tail = std::ranges::find(tokens.subspan(at(markers.back())), special.separator);
  const int options_end = static_cast<int>(tail - tokens.begin());
  if (options_end + 1 >= count_of(tokens) || tokens.back() != special.separator) {
    return std::nullopt;
  }
  Parts parts{tokens.front(), tokens.subspan(1, at(head_end - 1)), {}, {}};
  for (int i = 0; i < option_count; ++i) {
    const int end = i + 1 < option_count ? markers[at(i + 1)] : options_end;
    parts.options.push_back(tokens.subspan(at(markers[at(i)]), at(end - markers[at(i)])));
  }
  parts.tail = tokens.subspan(at(options_end));
  return parts;
}

// Shortens every option; returns the tokens of all.
int shorten(std::vector<Span>& options, int length_max) {
  int total = 0;
  for (Span& option : options) {
    option = option.first(std::min(option.size(), at(length_max)));
    total += count_of(option);
  }
  return total;
}

void describe_options(const std::vector<Span>& whole, const std::vector<Span>& kept,
                      Truncation& truncation) {
  std::map<Tokens, std::vector<int>> groups;  // options that are the same after the cut
  for (int i = 0; i < count_of(kept); ++i) {
    if (kept[at(i)].size() < whole[at(i)].size()) truncation.options_cut.push_back(i);
    groups[Tokens(kept[at(i)].begin(), kept[at(i)].end())].push_back(i);
  }
  if (truncation.options_cut.empty()) return;
  for (const auto& [tokens, group] : groups) {
    const Span first = whole[at(group.front())];
    const bool differed =
        std::ranges::any_of(group, [&](int i) { return !std::ranges::equal(whole[at(i)], first); });
    if (!differed) continue;
    truncation.options_alike.insert(truncation.options_alike.end(), group.begin(), group.end());
  }
  std::ranges::sort(truncation.options_alike);
}

// As training does it: the end of the row goes, the last separator with it.
void cut_state(Span tail, int prompt_tokens_max, MarkerCut& cut) {
  const int state_count = count_of(tail) - 2;
  const int over = count_of(cut.tokens) - prompt_tokens_max;
  cut.truncation.state = {state_count, state_count};
  if (over <= 0 || over > state_count + 1)
    return;  // a head that alone is too long is refused later
  cut.tokens.resize(cut.tokens.size() - at(over));
  cut.truncation.state.kept_count = state_count - (over - 1);
}

}  // namespace

std::optional<MarkerCut> cut_marker_prompt(const Tokens& tokens, int option_count,
                                           const MarkerTokens& special,
                                           const MarkerLimits& limits) {
  const std::optional<Parts> parts = part(tokens, option_count, special);
  if (!parts) return std::nullopt;
  std::vector<Span> options = parts->options;
  int option_tokens = shorten(options, kOptionTextMax + 1);
  if (option_tokens + kQuestionReserve > limits.head_tokens_max) {
    const int room = std::max(0, limits.head_tokens_max - kQuestionReserve);
    option_tokens = shorten(options, std::max(kOptionTokensMin, room / option_count));
  }
  const int question_max = std::max(kQuestionTokensMin, limits.head_tokens_max - option_tokens);
  const Span question = parts->question.first(std::min(parts->question.size(), at(question_max)));

  MarkerCut cut;
  cut.truncation.question = {count_of(parts->question), count_of(question)};
  describe_options(parts->options, options, cut.truncation);
  cut.tokens.push_back(parts->first);
  cut.tokens.insert(cut.tokens.end(), question.begin(), question.end());
  cut.tokens.push_back(special.separator);
  for (const Span& option : options) {
    cut.markers.push_back(count_of(cut.tokens));
    cut.tokens.insert(cut.tokens.end(), option.begin(), option.end());
  }
  cut.tokens.insert(cut.tokens.end(), parts->tail.begin(), parts->tail.end());
  cut_state(parts->tail, limits.prompt_tokens_max, cut);
  return cut;
}

}  // namespace adjudge
