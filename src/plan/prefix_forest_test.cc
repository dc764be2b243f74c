#include "plan/prefix_forest.h"

#include <gtest/gtest.h>

#include <random>

#include "base/size.h"

namespace adjudge {
namespace {

Prompt prompt_of(Tokens tokens, std::vector<int> wanted = {}) {
  Prompt prompt;
  prompt.tokens = std::move(tokens);
  prompt.wanted =
      wanted.empty() ? std::vector<int>{count_of(prompt.tokens) - 1} : std::move(wanted);
  return prompt;
}

PrefixForest forest_of(const std::vector<Prompt>& prompts) {
  std::vector<const Prompt*> pointers;
  for (const Prompt& prompt : prompts) pointers.push_back(&prompt);
  return build_prefix_forest(pointers);
}

// The tokens from the root down to a segment's end, read off the tree alone.
Tokens path_tokens(const PrefixForest& forest, const std::vector<Prompt>& prompts, int segment) {
  Tokens tokens;
  for (int i = segment; i >= 0; i = forest.segments[at(i)].parent) {
    const Segment& s = forest.segments[at(i)];
    const Tokens& all = prompts[at(s.prompt)].tokens;
    tokens.insert(tokens.begin(), all.begin() + s.begin, all.begin() + s.end);
  }
  return tokens;
}

TEST(PrefixForest, EvaluatesEachSharedTokenOnce) {
  const std::vector<Prompt> prompts = {prompt_of({1, 2, 3, 4}), prompt_of({1, 2, 3, 5, 6}),
                                       prompt_of({1, 2, 7})};
  const PrefixForest forest = forest_of(prompts);
  EXPECT_EQ(forest.evaluated_count, 2 + 1 + 1 + 2 + 1);
  EXPECT_EQ(forest.prompt_token_count, 4 + 5 + 3);
  EXPECT_EQ(forest.segments.size(), 5u);
}

TEST(PrefixForest, SegmentsEndAtBordersAndCuts) {
  Prompt first = prompt_of({1, 2, 3, 4, 5});
  first.borders = {2, 5};  // nothing follows the second
  const std::vector<Prompt> prompts = {first, prompt_of({1, 2, 3, 4, 6})};
  std::vector<const Prompt*> pointers = {&prompts[0], &prompts[1]};
  const std::vector<std::vector<int>> cuts = {{}, {3}};
  const PrefixForest forest = build_prefix_forest(pointers, cuts);
  std::vector<std::pair<int, int>> stretches;
  std::vector<bool> borders;
  for (const Segment& segment : forest.segments) {
    stretches.push_back({segment.begin, segment.end});
    borders.push_back(segment.border);
  }
  EXPECT_EQ(stretches, (std::vector<std::pair<int, int>>{{0, 2}, {2, 3}, {3, 4}, {4, 5}, {4, 5}}));
  EXPECT_EQ(borders, (std::vector<bool>{true, false, false, false, false}));
  EXPECT_EQ(forest.evaluated_count, 6);
}

TEST(PrefixForest, IdenticalPromptsAreOneSegment) {
  const PrefixForest forest = forest_of({prompt_of({1, 2}), prompt_of({1, 2})});
  EXPECT_EQ(forest.segments.size(), 1u);
  EXPECT_EQ(forest.rows[0][0].segment, forest.rows[1][0].segment);
}

TEST(PrefixForest, APromptThatBeginsAnotherEndsInsideTheTree) {
  const PrefixForest forest = forest_of({prompt_of({1, 2, 3}), prompt_of({1, 2})});
  ASSERT_EQ(forest.segments.size(), 2u);
  EXPECT_TRUE(forest.segments[0].continued);
  EXPECT_EQ(forest.rows[1][0].segment, 0);
  EXPECT_EQ(forest.rows[0][0].segment, 1);
}

TEST(PrefixForest, NothingAfterTheLastWantedRowIsEvaluated) {
  const PrefixForest forest = forest_of({prompt_of({1, 2, 3, 4, 5}, {1, 2})});
  EXPECT_EQ(forest.evaluated_count, 3);
}

TEST(PrefixForest, EncoderPromptsShareNothing) {
  Prompt prompt = prompt_of({1, 2, 3}, {0});
  prompt.causal = false;
  const PrefixForest forest = forest_of({prompt, prompt});
  EXPECT_EQ(forest.segments.size(), 2u);
  EXPECT_EQ(forest.evaluated_count, 6);
}

TEST(PrefixForest, TokenTypesSeparateEqualTokens) {
  Prompt plain = prompt_of({1, 2, 3});
  Prompt typed = plain;
  typed.token_types = {0, 1, 0};
  EXPECT_EQ(forest_of({plain, typed}).evaluated_count, 1 + 2 + 2);
}

TEST(PrefixForest, EveryWantedRowOfRandomPromptsIsFoundAtItsTokens) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<Prompt> prompts;
    for (int i = 0; i < 12; ++i) {
      Tokens tokens(1 + random() % 9);
      for (Token& token : tokens) token = static_cast<Token>(random() % 2);
      std::vector<int> wanted;
      for (int p = 0; p < count_of(tokens); ++p) {
        if (random() % 3 == 0) wanted.push_back(p);
      }
      prompts.push_back(prompt_of(tokens, wanted));
    }
    const PrefixForest forest = forest_of(prompts);
    for (int i = 0; i < count_of(prompts); ++i) {
      for (int w = 0; w < count_of(prompts[at(i)].wanted); ++w) {
        const RowPlace place = forest.rows[at(i)][at(w)];
        const Segment& segment = forest.segments[at(place.segment)];
        const int position = segment.wanted[at(place.row)];
        ASSERT_EQ(position, prompts[at(i)].wanted[at(w)]);
        ASSERT_LT(segment.parent, place.segment);
        const Tokens path = path_tokens(forest, prompts, place.segment);
        const Tokens& tokens = prompts[at(i)].tokens;
        ASSERT_TRUE(std::equal(tokens.begin(), tokens.begin() + position + 1, path.begin()));
      }
    }
  }
}

}  // namespace
}  // namespace adjudge
