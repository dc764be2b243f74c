#include "family/compile/prompt_limits.h"

#include <gtest/gtest.h>

namespace adjudge {
namespace {

Question question(const std::string& id, int option_count = 2) {
  return {id, QuestionKind::choice, json::null(),
          std::vector<Option>(static_cast<std::size_t>(option_count))};
}

TEST(PromptLimits, EveryQuestionWithTooManyOptionsIsNamed) {
  const Request request{"", json::null(), {question("a", 3), question("b"), question("c", 4)}};
  EXPECT_TRUE(check_option_counts(request, 4).ok());
  const Status refused = check_option_counts(request, 2);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::bad_request);
  ASSERT_EQ(refused.error().faults.size(), 2u);
  EXPECT_EQ(refused.error().faults[1].path,
            (std::vector<std::string>{"questions", "c", "choice", "criteria"}));
  EXPECT_EQ(refused.error().faults[1].message,
            "question \"c\" has 4 options, at most 2 can be asked of this model");
}

TEST(PromptLimits, ALongPromptIsRefusedWithTheQuestionThatCameLast) {
  const CompileOptions options{.prompt_tokens_max = 10};
  TokenCounter counter(options);
  EXPECT_TRUE(counter.check(question("a"), "this question", 10).ok());
  EXPECT_TRUE(counter.add(question("a"), "this question", 10).ok());
  for (const Status& refused : {counter.check(question("b"), "what was asked", 11),
                                counter.add(question("b"), "what was asked", 11)}) {
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().kind, ErrorKind::too_large);
    EXPECT_EQ(refused.error().faults[0].path, (std::vector<std::string>{"questions", "b"}));
    EXPECT_EQ(refused.error().faults[0].message,
              "the state and what was asked are 11 tokens, at most 10 fit this model");
  }
}

TEST(PromptLimits, PromptsAreCountedTogetherWhenTheyAreWhole) {
  const CompileOptions options{.request_tokens_max = 20};
  TokenCounter counter(options);
  EXPECT_TRUE(counter.check(question("a"), "this question", 30).ok());
  EXPECT_TRUE(counter.add(question("a"), "this question", 15).ok());
  const Status refused = counter.add(question("b"), "this question", 6);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::too_large);
  EXPECT_EQ(refused.error().faults[0].path, (std::vector<std::string>{"questions"}));
}

TEST(PromptLimits, WithoutLimitsNothingIsTooLong) {
  const CompileOptions options;
  TokenCounter counter(options);
  EXPECT_TRUE(counter.add(question("a"), "this question", 1 << 30).ok());
}

}  // namespace
}  // namespace adjudge
