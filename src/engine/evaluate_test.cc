#include "engine/evaluate.h"

#include <gtest/gtest.h>

#include <random>

#include "backbone/fake.h"
#include "base/size.h"

namespace adjudge {
namespace {

std::vector<Prompt> random_prompts(unsigned seed, int count) {
  std::mt19937 random(seed);
  std::vector<Prompt> prompts;
  for (int i = 0; i < count; ++i) {
    Prompt prompt;
    prompt.tokens.resize(5 + random() % 30);
    for (int k = 0; k < count_of(prompt.tokens); ++k) {
      prompt.tokens[at(k)] = k < 4 ? k : static_cast<Token>(random() % 2);
      if (random() % 4 == 0) prompt.wanted.push_back(k);
    }
    prompt.wanted.push_back(count_of(prompt.tokens) - 1);
    prompt.wanted.erase(std::unique(prompt.wanted.begin(), prompt.wanted.end()),
                        prompt.wanted.end());
    prompts.push_back(prompt);
  }
  return prompts;
}

std::vector<HiddenRows> evaluate_all(const Backbone& backbone, const std::vector<Prompt>& prompts) {
  std::vector<const Prompt*> pointers;
  for (const Prompt& prompt : prompts) pointers.push_back(&prompt);
  MemoryBudget budget;
  return evaluate(backbone, pointers, build_prefix_forest(pointers), budget, {}).value();
}

void expect_equal(const HiddenRows& a, const HiddenRows& b) {
  ASSERT_EQ(a.count(), b.count());
  for (int i = 0; i < a.count(); ++i) EXPECT_TRUE(std::ranges::equal(a.row(i), b.row(i)));
}

TEST(Evaluate, CompanyAndPassSizeDoNotChangeARow) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const std::vector<Prompt> prompts = random_prompts(seed, 9);
    for (const int rows_max : {1, 3, 7, 64, 512}) {
      const auto together = evaluate_all(FakeBackbone(rows_max), prompts);
      for (int i = 0; i < count_of(prompts); ++i) {
        expect_equal(together[at(i)], evaluate_all(FakeBackbone(), {prompts[at(i)]})[0]);
      }
    }
  }
}

TEST(Evaluate, OnePassTakesWhatFits) {
  const FakeBackbone backbone;
  evaluate_all(backbone, random_prompts(1, 9));
  EXPECT_EQ(backbone.pass_count(), 1);
}

TEST(Evaluate, ASequenceThatSeesAllOfItselfIsNeverCut) {
  PrefixForest forest;
  for (const int length : {5, 3, 20, 1}) {
    Segment segment;
    segment.end = length;
    segment.causal = false;
    forest.segments.push_back(segment);
  }
  std::vector<std::vector<int>> lengths;
  for (const auto& pass : plan_passes(forest, 8)) {
    std::vector<int>& of_pass = lengths.emplace_back();
    for (const Step& step : pass) of_pass.push_back(step.end - step.begin);
  }
  EXPECT_EQ(lengths, (std::vector<std::vector<int>>{{5, 3}, {20}, {1}}));
}

TEST(Evaluate, GivesUpWhenAskedTo) {
  const std::vector<Prompt> prompts = random_prompts(1, 1);
  const Prompt* pointer = &prompts[0];
  MemoryBudget budget;
  std::stop_source stop;
  stop.request_stop();
  const auto rows = evaluate(FakeBackbone(), std::span(&pointer, 1),
                             build_prefix_forest(std::span(&pointer, 1)), budget, stop.get_token());
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.error().kind, ErrorKind::cancelled);
}

TEST(Evaluate, NamesTheMemoryBudgetItDoesNotFit) {
  const std::vector<Prompt> prompts = random_prompts(1, 1);
  const Prompt* pointer = &prompts[0];
  MemoryBudget budget(8);
  const auto rows = evaluate(FakeBackbone(), std::span(&pointer, 1),
                             build_prefix_forest(std::span(&pointer, 1)), budget, {});
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.error().kind, ErrorKind::unavailable);
  EXPECT_NE(rows.error().message().find("of 8 in use"), std::string::npos);
}

}  // namespace
}  // namespace adjudge
