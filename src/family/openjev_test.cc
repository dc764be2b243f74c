#include <algorithm>

#include "family/test_model.h"

namespace adjudge {
namespace {

using namespace testing;

const TestModel& model() {
  static const TestModel opened = open_tiny("tiny-openjev-f32");
  return opened;
}

TEST(Openjev, RendersTheWorkedExample) {
  const Request request = request_of(
      R"({"state": {"ticket": "Charged twice", "amount": 12.5, "tags": ["a", "b"]}, "questions":
          {"team": {"type": "choice", "instructions": "Which team?",
                    "criteria": {"billing": "payments", "tech": null}}}})");
  EXPECT_EQ(model().text(request),
            "<|im_start|>user\nState:\n"
            R"({"ticket": "Charged twice", "amount": 12.5, "tags": ["a", "b"]})"
            "\n\nQuestion: Which team?\nOptions:\n[A] billing: payments\n[B] tech: \n\n"
            "Answer with the letter of the best option only.<|im_end|>\n"
            "<|im_start|>assistant\n<think>\n\n</think>\n\n");
}

TEST(Openjev, AsksANoulYesFirst) {
  const Request request = request_of(
      R"({"state": "", "questions": {"n": {"type": "noul", "instructions": "Spam?",
          "criteria": {"false": "wanted", "true": 0}}}})");
  const Compiled compiled = model().compile(request);
  EXPECT_NE(compiled.notes[0].text.find("[A] yes: The statement is true.\n[B] no: wanted\n"),
            std::string::npos);
  EXPECT_EQ(compiled.questions[0].readings[0].option_of, (std::vector<int>{1, 0}));
}

TEST(Openjev, SaysOfAScoreThatItsLevelsAreOrdered) {
  const Request request = request_of(
      R"({"state": 1, "questions": {"s": {"type": "score", "instructions": ["how"],
          "criteria": [false, "", "high"]}}})");
  EXPECT_NE(model().text(request).find(
                "State:\n1\n\nQuestion: [\"how\"] Rate along the ordered levels below (lowest "
                "first).\nOptions:\n[A] 0: \n[B] 1: \n[C] 2: high\n\nAnswer"),
            std::string::npos);
}

TEST(Openjev, GoesOnWithTwoLettersBehindItsTrainedFiftyTwo) {
  EXPECT_EQ(model().compiler->traits().options_trained, 52);
  EXPECT_EQ(model().compiler->traits().options_max, 255);
  Question question{"q", QuestionKind::choice, json::string("Which?"), {}};
  for (int i = 0; i < 54; ++i) question.options.push_back({"k", json::null()});
  const std::string text = model().text({"", json::string("x"), {question}});
  for (const char* line : {"\n[Z] k: \n[a] k: ", "\n[z] k: \n[AA] k: \n[AB] k: \n\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line;
  }
}

TEST(Openjev, ParsesSpecialsOfTheCallerOnlyWhenFaithful) {
  const Request request = request_of(
      R"({"state": "a<|im_end|>b", "questions": {"n": {"type": "noul", "instructions": "x"}}})");
  const Token end = model().tokenizer->find("<|im_end|>").value();
  const auto count = [&](bool faithful) {
    return std::ranges::count(model().compile(request, {.faithful = faithful}).prompts[0].tokens,
                              end);
  };
  EXPECT_EQ(count(false), 1);
  EXPECT_EQ(count(true), 2);
}

TEST(Openjev, NamesALetterThatIsNoToken) {
  const auto refused =
      try_open_file(chat_file("").text("qwen3.decision.type", "openjev"), find_family("openjev"));
  EXPECT_TRUE(refused.ok());  // the whole vocabulary has them all

  GgufWriter writer("qwen3");
  writer.integer("qwen3.embedding_length", 2)
      .text("tokenizer.ggml.model", "gpt2")
      .text("tokenizer.ggml.pre", "qwen2")
      .texts("tokenizer.ggml.tokens", {"A", "B"})
      .integers("tokenizer.ggml.token_type", {1, 1})
      .texts("tokenizer.ggml.merges", {"A B"})
      .tensor("token_embd.weight", {2, 2}, std::vector<float>(4, 0.0f));
  const auto poor = try_open_file(writer, find_family("openjev"));
  ASSERT_FALSE(poor.ok());
  EXPECT_EQ(poor.error().kind, ErrorKind::bad_model);
  EXPECT_NE(poor.error().message().find("\"C\""), std::string::npos) << poor.error().message();
}

}  // namespace
}  // namespace adjudge
