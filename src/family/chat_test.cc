#include <algorithm>
#include <set>

#include "family/test_model.h"

namespace adjudge {
namespace {

using namespace testing;

const TestModel& model() {
  static const TestModel opened = value_of(try_open_file(chat_file(kChatMlTemplate)));
  return opened;
}

// What stands between the head, which is always the same, and the answer.
std::string user_turn(const std::string& body) {
  const std::string text = model().text(request_of(body));
  const std::string head =
      "<|im_start|>system\nYou read a text and answer a question about it. Reply with one word or "
      "letter only.<|im_end|>\n<|im_start|>user\n";
  const std::string tail = "<|im_end|>\n<|im_start|>assistant\n";
  EXPECT_TRUE(text.starts_with(head) && text.ends_with(tail)) << text;
  return text.substr(head.size(), text.size() - head.size() - tail.size());
}

TEST(Chat, AsksAChoiceByLetters) {
  EXPECT_EQ(user_turn(R"({"state": {"a": 1}, "questions": {"c": {"type": "choice",
                         "instructions": "Which team?",
                         "criteria": {"billing": "payments", "tech": null}}}})"),
            "Text:\n{\"a\": 1}\n\nQuestion: Which team?\nOptions:\nA. billing: payments\nB. tech\n"
            "Reply with the letter of the correct option.");
}

TEST(Chat, AsksAScoreByLettersInOrder) {
  EXPECT_EQ(user_turn(R"({"state": "x", "questions": {"s": {"type": "score",
                         "instructions": "How urgent?", "criteria": ["not", "very"]}}})"),
            "Text:\nx\n\nQuestion: How urgent? Pick the level that fits best, from lowest to "
            "highest.\nOptions:\nA. not\nB. very\nReply with the letter of the correct option.");
}

TEST(Chat, AsksANoulByYesAndNo) {
  EXPECT_EQ(user_turn(R"({"state": "x", "questions": {"n": {"type": "noul",
                         "instructions": "Spam?"}}})"),
            "Text:\nx\n\nQuestion: Spam?\nAnswer yes or no.");
  EXPECT_EQ(user_turn(R"({"state": "x", "questions": {"n": {"type": "noul",
                         "criteria": {"true": "unwanted", "false": "wanted"}}}})"),
            "Text:\nx\n\nQuestion: Is it true?\nYes means: unwanted\nNo means: wanted\n"
            "Answer yes or no.");
}

TEST(Chat, WithoutInstructionsAQuestionIsAskedInNeutralWords) {
  const auto asked = [](const std::string& rest) {
    const std::string turn =
        user_turn(R"({"state": "x", "questions": {"q": {"type": )" + rest + "}}}");
    const std::string before = "Text:\nx\n\n";
    return turn.substr(before.size(), turn.find('\n', before.size()) - before.size());
  };
  EXPECT_EQ(asked(R"("choice", "criteria": {"a": null, "b": null})"),
            "Question: Which option fits best?");
  EXPECT_EQ(asked(R"("score", "instructions": "", "criteria": ["low", "high"])"),
            "Question: Which level fits best? Pick the level that fits best, from lowest to "
            "highest.");
  EXPECT_EQ(asked(R"("noul", "instructions": null, "criteria": {"true": "a"})"),
            "Question: Is it true?");
}

TEST(Chat, QuestionsOfOneStateBeginAlike) {
  const Compiled compiled = model().compile(request_of(
      R"({"state": "a long state that several questions share", "questions": {
          "a": {"type": "noul", "instructions": "Spam?"},
          "b": {"type": "choice", "instructions": "Which?",
                "criteria": {"x": null, "y": null}}}})"));
  const Tokens& first = compiled.prompts[0].tokens;
  const Tokens& second = compiled.prompts[1].tokens;
  const auto apart = std::ranges::mismatch(first, second);
  const Tokens shared(first.begin(), apart.in1);
  EXPECT_NE(compiled.notes[0].text.find("several questions share"), std::string::npos);
  Tokens state = model().tokenizer->encode(" share", false);
  EXPECT_NE(std::ranges::search(shared, state).begin(), shared.end());
}

TEST(Chat, PutsTheBeginTokenFirstWhereTheTokenizerAsksForIt) {
  const TestModel with = value_of(try_open_file(chat_file(kChatMlTemplate, {.adds_bos = true})));
  const Request request =
      request_of(R"({"state": "x", "questions": {"n": {"type": "noul", "instructions": "x"}}})");
  const Tokens plain = model().compile(request).prompts[0].tokens;
  const Compiled compiled = with.compile(request);
  EXPECT_EQ(compiled.prompts[0].tokens[0], with.tokenizer->bos());
  EXPECT_EQ(Tokens(compiled.prompts[0].tokens.begin() + 1, compiled.prompts[0].tokens.end()),
            plain);
  EXPECT_TRUE(compiled.notes[0].text.starts_with("<|im_end|><|im_start|>system"));
}

TEST(Chat, CarriesAsManyOptionsAsThereAreCodes) {
  EXPECT_EQ(model().compiler->traits().options_max, 255);
  EXPECT_EQ(model().compiler->traits().options_trained, 0);
  Question question{"q", QuestionKind::choice, json::string("Which?"), {}};
  for (int i = 0; i < 27; ++i) question.options.push_back({"k", json::null()});
  const std::string text = model().text({"", json::string("x"), {question}});
  EXPECT_NE(text.find("\nZ. k\nAA. k\nReply with the letters of the correct option."),
            std::string::npos);
}

TEST(Chat, RefusesWhatItCannotAskAndSaysWhy) {
  const Family* chat = find_family("chat");
  const auto silent = try_open_file(chat_file(""), chat);
  ASSERT_FALSE(silent.ok());
  EXPECT_NE(silent.error().message().find("tokenizer.chat_template: missing"), std::string::npos);

  const auto foreign = try_open_file(chat_file("{{ messages }}"), chat);
  ASSERT_FALSE(foreign.ok());
  EXPECT_NE(foreign.error().message().find("expected ChatML, Llama 3, Gemma"), std::string::npos);

  for (const char* chat_template : {"", "{{ messages }}"}) {
    const auto unclaimed = try_open_file(chat_file(chat_template));
    ASSERT_FALSE(unclaimed.ok());
    EXPECT_EQ(unclaimed.error().kind, ErrorKind::bad_model);
    EXPECT_NE(unclaimed.error().message().find("tokenizer.chat_template"), std::string::npos);
  }
}

TEST(Chat, RefusesAVocabularyWhereYesIsSeveralTokens) {
  const auto refused = try_open_file(chat_file(kChatMlTemplate, {.knows_yes_and_no = false}));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::bad_model);
  EXPECT_NE(refused.error().message().find("yes and no"), std::string::npos);
}

}  // namespace
}  // namespace adjudge
