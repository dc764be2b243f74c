#include "family/test_model.h"

namespace adjudge {
namespace {

using namespace testing;

const TestModel& model() {
  static const TestModel opened = open_tiny("tiny-nimble-f32");
  return opened;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

constexpr const char* kTwo = R"({"state": {"a<b": 1}, "questions": {
    "first<id>": {"type": "choice", "instructions": "Which team?",
              "criteria": {"<billing>": "payments", "tech": null, "sales": 0, "x": ""}},
    "second": {"type": "noul", "instructions": "Spam?"}}})";

TEST(Nimble, RendersTheWorkedExampleWhenFaithful) {
  const Request request = request_of(
      R"({"state": {"ticket": "Charged twice", "amount": 12.5, "tags": ["a", "b"]}, "questions":
          {"team": {"type": "choice", "instructions": "Which team?",
                    "criteria": {"billing": "payments", "tech": null}}}})");
  EXPECT_TRUE(model()
                  .text(request, {.faithful = true})
                  .ends_with("<|im_start|>user\n"
                             R"({"context": "{\"ticket\": \"Charged twice\", \"amount\": 12.5, )"
                             R"(\"tags\": [\"a\", \"b\"]}", "schema": [{"name": "team", )"
                             R"("description": "Which team?", "choices": [{"code": "A", )"
                             R"("value": "billing", "description": "payments"}, )"
                             R"({"code": "B", "value": "tech"}]}]})"
                             "\n\nRequested field: \"team\"<|im_end|>\n"
                             "<|im_start|>assistant\n<think>\n\n</think>\n\n"));
}

TEST(Nimble, ShowsAllQuestionsAndNamesThemByPlace) {
  const Compiled compiled = model().compile(request_of(kTwo));
  ASSERT_EQ(compiled.prompts.size(), 2u);
  const std::string schema =
      R"({"context": "{\"a\u003cb\": 1}", "schema": [{"name": "q1", "description": )"
      R"("Which team?", "choices": [{"code": "A", "value": "\u003cbilling\u003e", )"
      R"("description": "payments"}, {"code": "B", "value": "tech"}, {"code": "C", )"
      R"("value": "sales", "description": "0"}, {"code": "D", "value": "x", "description": ""}]}, )"
      R"({"name": "q2", "description": "Spam?", "choices": [{"code": "A", "value": false}, )"
      R"({"code": "B", "value": true}]}]})";
  EXPECT_TRUE(contains(compiled.notes[0].text, schema + "\n\nRequested field: \"q1\"<|im_end|>"));
  EXPECT_TRUE(contains(compiled.notes[1].text, schema + "\n\nRequested field: \"q2\"<|im_end|>"));
  EXPECT_TRUE(model().compiler->traits().shows_all_questions);
}

TEST(Nimble, EscapesIdsWhenFaithful) {
  EXPECT_TRUE(contains(model().text(request_of(kTwo), {.faithful = true}),
                       R"({"name": "first\u003cid\u003e", )"));
}

TEST(Nimble, AskedAloneAQuestionIsTheOnlyOneShown) {
  const std::string text = model().text(request_of(kTwo), {.questions_alone = true}, 1);
  EXPECT_FALSE(contains(text, "Which team?"));
  EXPECT_TRUE(contains(text, "Requested field: \"q1\""));
}

TEST(Nimble, SpeaksOfShortCodesWhenAnyQuestionHasMoreThanTwentySixOptions) {
  Request request = request_of(kTwo);
  EXPECT_TRUE(contains(model().text(request), "allowed choices with one-letter codes."));
  while (request.questions[0].options.size() < 27) {
    request.questions[0].options.push_back({"k", json::null()});
  }
  for (const int prompt : {0, 1}) {
    EXPECT_TRUE(contains(model().text(request, {}, prompt), "that choice's short code"));
  }
  EXPECT_TRUE(contains(model().text(request, {.questions_alone = true}, 1), "one-letter"));
}

}  // namespace
}  // namespace adjudge
