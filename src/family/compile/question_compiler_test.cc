#include "family/compile/question_compiler.h"

#include "family/test_model.h"

namespace adjudge {
namespace {

using namespace testing;

// Asks every question twice, with the options the other way round the second time, and reads two
// positions. Counts the questions it was to phrase.
class TwiceCompiler final : public QuestionCompiler {
 public:
  TwiceCompiler(CompilerParts parts, std::optional<Token> first)
      : QuestionCompiler(std::move(parts)), first_(first) {}

  int phrased_count() const { return phrased_count_; }

 private:
  std::vector<Phrasing> phrase(const Asked& asked) const override {
    ++phrased_count_;
    std::vector<Phrasing> phrasings;
    for (const int order : {0, 1}) {
      PromptText text(asked.user_text());
      text.form("<|im_start|>").user(asked.question().id);
      phrasings.push_back({std::move(text), order, {order, 1 - order}, nullptr});
    }
    return phrasings;
  }
  Fold fold_of(QuestionKind kind) const override {
    return kind == QuestionKind::noul ? Fold::rating_scale : Fold::mean;
  }
  Result<Layout> lay_out(const Asked&, const Tokens& tokens) const override {
    return Layout{{.tokens = tokens, .wanted = {0, count_of(tokens) - 1}}, {}, {}};
  }
  std::optional<Token> first_token() const override { return first_; }

  std::optional<Token> first_;
  mutable int phrased_count_ = 0;
};

const TestModel& tiny() {
  static const TestModel model = open_tiny("tiny-openjev-f32");
  return model;
}

TwiceCompiler compiler(std::optional<Token> first = std::nullopt) {
  CompilerParts parts;
  parts.traits.options_max = 2;
  parts.tokenizer = tiny().tokenizer.get();
  return TwiceCompiler(std::move(parts), first);
}

Question question(const std::string& id, QuestionKind kind, int option_count = 2) {
  return {id, kind, json::null(), std::vector<Option>(at(option_count))};
}

TEST(QuestionCompiler, EveryPhrasingIsAPromptWithItsReading) {
  const Request request{
      "", json::null(), {question("a", QuestionKind::choice), question("b", QuestionKind::noul)}};
  const Compiled compiled = value_of(compiler().compile(request, {}));
  ASSERT_EQ(compiled.prompts.size(), 4u);
  ASSERT_EQ(compiled.questions.size(), 2u);
  EXPECT_EQ(compiled.questions[0].fold, Fold::mean);
  EXPECT_EQ(compiled.questions[1].fold, Fold::rating_scale);
  for (int i = 0; i < 4; ++i) {
    const Reading& reading = compiled.questions[at(i / 2)].readings[at(i % 2)];
    EXPECT_EQ(reading.prompt, i);
    EXPECT_EQ(reading.option_of, (std::vector<int>{i % 2, 1 - i % 2}));
    EXPECT_EQ(compiled.notes[at(i)].question, i / 2);
    EXPECT_EQ(compiled.notes[at(i)].order, i % 2);
    EXPECT_EQ(compiled.prompts[at(i)].wanted, (std::vector<int>{0, 1}));
  }
  EXPECT_EQ(compiled.notes[3].text, "<|im_start|>b");
}

TEST(QuestionCompiler, TheFirstTokenIsPartOfTokensAndText) {
  const Token end = tiny().tokenizer->find("<|im_end|>").value();
  const Request request{"", json::null(), {question("a", QuestionKind::choice)}};
  const Compiled compiled = value_of(compiler(end).compile(request, {}));
  EXPECT_EQ(compiled.prompts[0].tokens.front(), end);
  EXPECT_EQ(compiled.prompts[0].tokens.size(), 3u);
  EXPECT_EQ(compiled.notes[0].text, "<|im_end|><|im_start|>a");
}

TEST(QuestionCompiler, TokensAreCountedAsTheyCome) {
  const Request request{
      "", json::null(), {question("a", QuestionKind::choice), question("b", QuestionKind::choice)}};
  EXPECT_TRUE(compiler().compile(request, {.prompt_tokens_max = 2, .request_tokens_max = 8}).ok());
  const auto too_long = compiler().compile(request, {.prompt_tokens_max = 1});
  ASSERT_FALSE(too_long.ok());
  EXPECT_EQ(too_long.error().faults[0].path, (std::vector<std::string>{"questions", "a"}));
  const auto too_many = compiler().compile(request, {.request_tokens_max = 7});
  ASSERT_FALSE(too_many.ok());
  EXPECT_EQ(too_many.error().kind, ErrorKind::too_large);
  EXPECT_EQ(too_many.error().faults[0].path, (std::vector<std::string>{"questions"}));
}

TEST(QuestionCompiler, AFloodOfQuestionsEndsAtTheFirstThatIsTooMuch) {
  const Request flood{"", json::null(), std::vector(5000, question("a", QuestionKind::choice))};
  const auto phrased_count = [&](const CompileOptions& options) {
    const TwiceCompiler asking = compiler();
    EXPECT_FALSE(asking.compile(flood, options).ok());
    return asking.phrased_count();
  };
  EXPECT_EQ(phrased_count({.prompt_tokens_max = 1}), 1);
  EXPECT_EQ(phrased_count({.request_tokens_max = 9}), 3);  // four tokens each
}

}  // namespace
}  // namespace adjudge
