#include "engine/evaluate.h"

#include <gtest/gtest.h>

#include <numeric>
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

EvaluatedRows evaluate_in(Runtime& runtime, const Backbone& backbone,
                          const std::vector<Prompt>& prompts) {
  std::vector<const Prompt*> pointers;
  for (const Prompt& prompt : prompts) pointers.push_back(&prompt);
  return evaluate({backbone, runtime, 1}, pointers, {}).value();
}

std::vector<HiddenRows> evaluate_all(const Backbone& backbone, const std::vector<Prompt>& prompts) {
  Runtime runtime;
  return evaluate_in(runtime, backbone, prompts).rows;
}

int sum(const std::vector<int>& counts) { return std::accumulate(counts.begin(), counts.end(), 0); }

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
  for (const auto& pass : plan_passes(forest, Reuse::none(forest), 8)) {
    std::vector<int>& of_pass = lengths.emplace_back();
    for (const Step& step : pass) of_pass.push_back(step.end - step.begin);
  }
  EXPECT_EQ(lengths, (std::vector<std::vector<int>>{{5, 3}, {20}, {1}}));
}

TEST(Evaluate, GivesUpWhenAskedTo) {
  const std::vector<Prompt> prompts = random_prompts(1, 1);
  const Prompt* pointer = &prompts[0];
  Runtime runtime;
  std::stop_source stop;
  stop.request_stop();
  const auto rows = evaluate({FakeBackbone(), runtime, 1}, {&pointer, 1}, stop.get_token());
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.error().kind, ErrorKind::cancelled);
}

TEST(Evaluate, NamesTheMemoryBudgetItDoesNotFit) {
  const std::vector<Prompt> prompts = random_prompts(1, 1);
  const Prompt* pointer = &prompts[0];
  Runtime runtime({.memory_bytes_max = 8});
  const auto rows = evaluate({FakeBackbone(), runtime, 1}, {&pointer, 1}, {});
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.error().kind, ErrorKind::unavailable);
  EXPECT_NE(rows.error().message().find("of 8 in use"), std::string::npos);
}

// Prompts that begin alike, with borders anywhere.
std::vector<Prompt> prompts_with_borders(std::mt19937& random, int count) {
  std::vector<Prompt> prompts = random_prompts(static_cast<unsigned>(random()), count);
  for (Prompt& prompt : prompts) {
    for (int k = 1; k <= count_of(prompt.tokens); ++k) {
      if (random() % 5 == 0) prompt.borders.push_back(k);
    }
  }
  return prompts;
}

TEST(Evaluate, AKeptBeginningChangesNoRow) {
  std::mt19937 random(5);
  for (const std::size_t bytes_max : {std::size_t{0}, std::size_t{2000}, std::size_t{1} << 20}) {
    Runtime runtime({.snapshot_bytes_max = bytes_max});
    for (int round = 0; round < 60; ++round) {
      const FakeBackbone backbone(1 + static_cast<int>(random() % 40));
      const std::vector<Prompt> prompts = prompts_with_borders(random, 1 + round % 5);
      const auto rows = evaluate_in(runtime, backbone, prompts).rows;
      for (int i = 0; i < count_of(prompts); ++i) {
        expect_equal(rows[at(i)], evaluate_all(FakeBackbone(), {prompts[at(i)]})[0]);
      }
    }
    EXPECT_LE(runtime.snapshots().counts().bytes, bytes_max);
    EXPECT_EQ(runtime.snapshots().counts().hits > 0, bytes_max > 0);
  }
}

TEST(Evaluate, WhatIsKeptIsNotEvaluatedAgain) {
  Runtime runtime;
  Prompt prompt{.tokens = {1, 2, 3, 4, 5, 6}, .wanted = {5}, .borders = {2, 4}};
  EXPECT_EQ(sum(evaluate_in(runtime, FakeBackbone(), {prompt}).evaluated_counts), 6);
  EXPECT_EQ(sum(evaluate_in(runtime, FakeBackbone(), {prompt}).evaluated_counts), 2);
  Prompt other = prompt;
  other.tokens = {1, 2, 3, 4, 7, 8};
  prompt.wanted = {3, 5};  // a row that somebody reads has to be evaluated
  const auto both = evaluate_in(runtime, FakeBackbone(), {prompt, other});
  EXPECT_EQ(sum(both.evaluated_counts), 2 + 2 + 2);
  const Prompt third{.tokens = {1, 2, 9, 9}, .wanted = {3}, .borders = {}};
  EXPECT_EQ(sum(evaluate_in(runtime, FakeBackbone(), {third}).evaluated_counts), 2);
}

TEST(Evaluate, NothingIsKeptOfAPassThatMayBeWrong) {
  const FakeBackbone backbone;
  const Prompt prompt{.tokens = {1, 2, 3, 4}, .wanted = {3}, .borders = {2}};
  const Prompt* pointer = &prompt;
  Runtime runtime;
  ASSERT_TRUE(evaluate({backbone, runtime, 1, [] { return false; }}, {&pointer, 1}, {}).ok());
  EXPECT_EQ(runtime.snapshots().counts().count, 0u);
  ASSERT_TRUE(evaluate({backbone, runtime, 1, [] { return true; }}, {&pointer, 1}, {}).ok());
  EXPECT_EQ(runtime.snapshots().counts().count, 1u);
}

TEST(Evaluate, SnapshotsGiveWayToAPass) {
  const FakeBackbone backbone;
  const Prompt kept{.tokens = Tokens(40, 1), .wanted = {39}, .borders = {20}};
  const Prompt longer{.tokens = Tokens(60, 2), .wanted = {59}, .borders = {}};
  Runtime runtime({.memory_bytes_max = 60 * 16});
  evaluate_in(runtime, backbone, {kept});
  EXPECT_EQ(runtime.snapshots().counts().count, 1u);
  evaluate_in(runtime, backbone, {longer});
  EXPECT_EQ(runtime.snapshots().counts().count, 0u);
}

}  // namespace
}  // namespace adjudge
