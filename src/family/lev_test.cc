#include "family/test_model.h"

namespace adjudge {
namespace {

using namespace testing;

const TestModel& model() {
  static const TestModel opened = open_tiny("tiny-lev-f32");
  return opened;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Lev, RendersTheWorkedExampleInBothOrders) {
  const Request request = request_of(
      R"({"state": {"ticket": "Charged twice", "amount": 12.5, "tags": ["a", "b"]}, "questions":
          {"team": {"type": "choice", "instructions": "Which team?",
                    "criteria": {"billing": "payments", "tech": null}}}})");
  const Compiled compiled = model().compile(request);
  ASSERT_EQ(compiled.prompts.size(), 2u);
  EXPECT_TRUE(compiled.notes[0].text.ends_with(
      "# Evidence\n{\"amount\": 12.5, \"tags\": [\"a\", \"b\"], \"ticket\": \"Charged twice\"}\n\n"
      "# Criterion\nWhich team?\n\n# Options\nA. billing: payments\nB. tech\n\n"
      "Respond with only the letter of the best option.\n<|im_end|>\n"
      "<|im_start|>assistant\n<think>\n\n</think>\n\n"));
  EXPECT_TRUE(contains(compiled.notes[1].text, "# Options\nA. tech\nB. billing: payments\n\n"));
  EXPECT_EQ(compiled.notes[1].order, 1);
  EXPECT_EQ(compiled.questions[0].readings[0].option_of, (std::vector<int>{0, 1}));
  EXPECT_EQ(compiled.questions[0].readings[1].option_of, (std::vector<int>{1, 0}));
}

TEST(Lev, AsksAChoiceOfOneAndAScoreOnce) {
  const Request request = request_of(
      R"({"state": "x", "questions": {
          "c": {"type": "choice", "instructions": "Which?", "criteria": {"only": "one"}},
          "s": {"type": "score", "instructions": "Rate", "criteria": ["low", "", false]}}})");
  const Compiled compiled = model().compile(request);
  ASSERT_EQ(compiled.prompts.size(), 2u);
  EXPECT_TRUE(contains(compiled.notes[1].text,
                       "A. (level 0 of 2) low\nB. (level 1 of 2) \nC. (level 2 of 2) false\n\n"
                       "Respond with only the letter of the level that best matches.\n"));
}

TEST(Lev, AsksANoulAsARating) {
  const Request request = request_of(
      R"({"state": "x", "questions": {"n": {"type": "noul", "instructions": "Spam?",
          "criteria": {"false": {"b": 1, "a": "é"}, "true": 0}}}})");
  const Compiled compiled = model().compile(request);
  ASSERT_EQ(compiled.prompts.size(), 1u);
  EXPECT_TRUE(contains(compiled.notes[0].text,
                       "# Scale\n0 = certainly no ... 8 = certainly yes\n"
                       "no: {\"a\": \"é\", \"b\": 1}\n\nRespond with only a digit from 0 to 8.\n"));
  EXPECT_EQ(compiled.questions[0].fold, Fold::rating_scale);
  EXPECT_EQ(compiled.questions[0].readings[0].option_of.size(), 9u);
}

// The reference asks with the id, which would move an answer by a name only the caller knows.
TEST(Lev, FalsyInstructionsBecomeNeutralOrTheIdWhenFaithful) {
  for (const char* instructions : {"\"\"", "0", "false", "[]", "{}"}) {
    const Request request = request_of(
        std::string(R"({"state": "x", "questions": {"my id": {"type": "score", "instructions": )") +
        instructions + R"(, "criteria": ["low", "high"]}}})");
    EXPECT_TRUE(contains(model().text(request), "# Criterion\nWhich level fits best?\n\n"));
    EXPECT_TRUE(contains(model().text(request, {.faithful = true}), "# Criterion\nmy id\n\n"));
  }
}

TEST(Lev, HasTemperaturesBySize) {
  const Calibration& calibration = model().compiler->calibration();
  EXPECT_NEAR(calibration.temperature(QuestionKind::choice, 8), 1.31, 1e-6);
  EXPECT_NEAR(calibration.temperature(QuestionKind::choice, 26), 1.12, 1e-6);
  EXPECT_NEAR(calibration.temperature(QuestionKind::choice, 27), 0.94, 1e-6);
}

}  // namespace
}  // namespace adjudge
