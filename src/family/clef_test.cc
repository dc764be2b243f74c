#include "family/test_model.h"
#include "readout/joint.h"

namespace adjudge {
namespace {

using namespace testing;

const TestModel& clef() {
  static const TestModel model = open_tiny("tiny-clef-f32");
  return model;
}

constexpr const char* kTicket = R"({
  "state": {"ticket": "Charged twice", "amount": 12.5, "tags": ["a", "b"]},
  "questions": {
    "team": {"type": "choice", "instructions": "Which team?",
             "criteria": {"tech": null, "billing": {"b": 1, "a": ""}}},
    "spam": {"type": "noul", "instructions": ["Is it?"], "criteria": {"true": "unwanted"}},
    "how": {"type": "score", "instructions": "How?", "criteria": ["no", "very"]}}})";

constexpr const char* kBeginning =
    "<|im_start|>system\nRead the complete state and schema. Decide every field jointly. Each "
    "answer must be exactly one of that field's allowed options.<|im_end|>\n<|im_start|>user\n"
    "STATE:\n{\"amount\":12.5,\"tags\":[\"a\",\"b\"],\"ticket\":\"Charged twice\"}\n\n"
    "SCHEMA FIELDS:\n";
constexpr const char* kEnd =
    "\n<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\nJOINT SCHEMA DECISIONS:";

std::string spam_field(const std::string& number, const std::string& id) {
  return "\nFIELD " + number + "\nID: " + id +
         "\nTYPE: noul\nINSTRUCTION: [\"Is it?\"]\nALLOWED OPTIONS:\n"
         "OPTION 1: {\"description\":\"unwanted\",\"option_id\":\"true\"}\n"
         "OPTION 2: {\"description\":\"The proposition is false or the answer is no.\","
         "\"option_id\":\"false\"}\nEND FIELD\n";
}

const JointReadout& readout_of(const Reading& reading) {
  return dynamic_cast<const JointReadout&>(*reading.readout);
}

// The text of the tokens a span holds.
std::string text_of(const Compiled& compiled, const RowSpan& rows) {
  std::string text;
  for (int i = rows.begin; i < rows.end; ++i) {
    text += clef().tokenizer->text_of(compiled.prompts[0].tokens[at(i)]);
  }
  return text;
}

TEST(Clef, ShowsEveryQuestionInOnePrompt) {
  const Compiled compiled = clef().compile(request_of(kTicket), {.faithful = true});
  ASSERT_EQ(compiled.prompts.size(), 1u);
  EXPECT_EQ(compiled.notes[0].text,
            std::string(kBeginning) +
                "\nFIELD 1\nID: team\nTYPE: choice\nINSTRUCTION: Which team?\nALLOWED OPTIONS:\n"
                "OPTION 1: {\"description\":{\"a\":\"\",\"b\":1},\"option_id\":\"billing\"}\n"
                "OPTION 2: {\"option_id\":\"tech\"}\nEND FIELD\n" +
                spam_field("2", "spam") +
                "\nFIELD 3\nID: how\nTYPE: score\nINSTRUCTION: How?\nALLOWED OPTIONS:\n"
                "OPTION 1: {\"description\":\"no\",\"option_id\":\"0\"}\n"
                "OPTION 2: {\"description\":\"very\",\"option_id\":\"1\"}\nEND FIELD\n" +
                kEnd);
}

TEST(Clef, AskedAloneAQuestionIsTheFirstAndOnlyOne) {
  const Compiled compiled = clef().compile(request_of(kTicket), {.questions_alone = true});
  ASSERT_EQ(compiled.prompts.size(), 3u);
  EXPECT_EQ(compiled.notes[1].text, kBeginning + spam_field("1", "q1") + kEnd);
  for (int q = 0; q < 3; ++q) {
    EXPECT_EQ(compiled.notes[at(q)].question, q);
    const Reading& reading = compiled.questions[at(q)].readings.at(0);
    EXPECT_EQ(reading.prompt, q);
    EXPECT_EQ(reading.marks, std::vector<int>{0});
    EXPECT_EQ(readout_of(reading).fields().size(), 1u);
  }
}

TEST(Clef, OneReadoutAnswersEveryQuestionFromItsSpans) {
  const Compiled compiled = clef().compile(request_of(kTicket));
  const Reading& first = compiled.questions[0].readings.at(0);
  const std::vector<JointField>& fields = readout_of(first).fields();
  ASSERT_EQ(fields.size(), 3u);
  for (int q = 0; q < 3; ++q) {
    const Reading& reading = compiled.questions[at(q)].readings.at(0);
    EXPECT_EQ(reading.readout, first.readout);
    EXPECT_EQ(reading.prompt, 0);
    EXPECT_EQ(reading.marks, std::vector<int>{q});
  }
  EXPECT_EQ(fields[0].type, 1);
  EXPECT_EQ(fields[1].type, 0);
  EXPECT_EQ(fields[2].type, 2);
  EXPECT_EQ(text_of(compiled, fields[0].rows), "Which team?");
  EXPECT_EQ(text_of(compiled, fields[1].rows), "[\"Is it?\"]");
  EXPECT_EQ(text_of(compiled, fields[0].options[1].rows), "{\"option_id\":\"tech\"}");
  const JointOption& option = fields[2].options[1];
  EXPECT_EQ(text_of(compiled, option.rows), "{\"description\":\"very\",\"option_id\":\"1\"}");
  const Tokens& tokens = compiled.prompts[0].tokens;
  EXPECT_EQ(option.tokens,
            Tokens(tokens.begin() + option.rows.begin, tokens.begin() + option.rows.end));
  EXPECT_EQ(compiled.prompts[0].wanted.size(), tokens.size());
}

TEST(Clef, OptionsAreShownSortedAndAnsweredAsGiven) {
  const Compiled compiled = clef().compile(request_of(kTicket));
  EXPECT_EQ(compiled.questions[0].readings[0].option_of,
            (std::vector<int>{1, 0}));  // billing, tech
  EXPECT_EQ(compiled.questions[1].readings[0].option_of, (std::vector<int>{1, 0}));  // true, false
  EXPECT_EQ(compiled.questions[2].readings[0].option_of, (std::vector<int>{0, 1}));
  const Compiled bytes = clef().compile(request_of(R"({"state": "s", "questions": {"q": {
      "type": "choice", "instructions": "Which?",
      "criteria": {"é": null, "b": null, "Z": null, "10": null, "9": null, "ba": null}}}})"));
  EXPECT_EQ(bytes.questions[0].readings[0].option_of, (std::vector<int>{3, 4, 2, 1, 5, 0}));
}

TEST(Clef, EveryPieceIsTokenisedByItself) {
  const auto count = [](const char* instructions) {
    Request request = request_of(kTicket);
    request.questions = {request.questions[0]};
    request.questions[0].instructions = json::string(instructions);
    return count_of(clef().compile(request).prompts[0].tokens);
  };
  // Beside its neighbours a line feed would merge with the one that follows.
  EXPECT_EQ(count("Which?\n"), count("Which?") + 1);
}

TEST(Clef, SpecialTokensOfTheCallerAreTokensOnlyToTheReference) {
  Request request = request_of(kTicket);
  request.state = json::string("a<|im_end|>b");
  request.questions[0].id = "<|im_start|>";
  const auto control_count = [&](bool faithful) {
    const Compiled compiled = clef().compile(request, {.faithful = faithful});
    return std::ranges::count_if(compiled.prompts[0].tokens, [](Token token) {
      return clef().tokenizer->type(token) == text::TokenType::control;
    });
  };
  EXPECT_EQ(control_count(true), control_count(false) + 2);
}

TEST(Clef, InstructionsWithoutATokenAreRefused) {
  Request request = request_of(kTicket);
  request.questions[1].instructions = json::string("");
  for (const bool alone : {false, true}) {
    const auto refused = clef().compiler->compile(request, {.questions_alone = alone});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().kind, ErrorKind::bad_request);
    EXPECT_EQ(refused.error().faults[0].path,
              (std::vector<std::string>{"questions", "spam", "noul", "instructions"}));
  }
}

TEST(Clef, WithoutInstructionsAQuestionIsAskedInNeutralWords) {
  Request request = request_of(kTicket);
  request.questions[2].instructions = json::null();
  EXPECT_NE(clef().text(request).find("\nINSTRUCTION: Which level fits best?\n"),
            std::string::npos);
}

TEST(Clef, APromptIsRefusedAtTheQuestionThatNoLongerFits) {
  const Request request = request_of(kTicket);
  Request first = request;
  first.questions.resize(2);
  const int room = count_of(clef().compile(first).prompts[0].tokens);
  const auto refused = clef().compiler->compile(request, {.prompt_tokens_max = room});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::too_large);
  EXPECT_EQ(refused.error().faults[0].path, (std::vector<std::string>{"questions", "how"}));
  EXPECT_NE(refused.error().message().find("the questions up to this one"), std::string::npos);
  EXPECT_TRUE(
      clef().compiler->compile(request, {.questions_alone = true, .prompt_tokens_max = room}).ok());
}

TEST(Clef, WhatFollowsAQuestionTooManyIsNotRead) {
  Request request = request_of(kTicket);
  request.questions[1].instructions = json::string("");  // refused as soon as it is read
  for (const bool alone : {false, true}) {
    const auto refused =
        clef().compiler->compile(request, {.questions_alone = alone, .prompt_tokens_max = 10});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().kind, ErrorKind::too_large);
    EXPECT_EQ(refused.error().faults[0].path, (std::vector<std::string>{"questions", "team"}));
  }
}

}  // namespace
}  // namespace adjudge
