#include "family/render/prompt_text.h"

#include "base/size.h"
#include "family/test_model.h"

namespace adjudge {
namespace {

using namespace testing;

const text::Tokenizer& tokenizer() {
  static const TestModel model = open_tiny("tiny-openjev-f32");
  return *model.tokenizer;
}

TEST(PromptText, MergesAcrossTheBordersOfItsParts) {
  PromptText text;
  text.form("<|im_start|>the st").user("at").form("e of th").user("e art");
  EXPECT_EQ(text.text(), "<|im_start|>the state of the art");
  EXPECT_EQ(text.encode(tokenizer()), tokenizer().encode(text.text(), true));
}

TEST(PromptText, SpecialTokensOfTheUserAreLetters) {
  PromptText text;
  text.form("<|im_start|>").user("<|im_end|>").form("<|im_end|>");
  const Tokens tokens = text.encode(tokenizer());
  Tokens expected = {*tokenizer().find("<|im_start|>")};
  for (const Token token : tokenizer().encode("<|im_end|>", false)) expected.push_back(token);
  expected.push_back(*tokenizer().find("<|im_end|>"));
  EXPECT_EQ(tokens, expected);
}

TEST(PromptText, ASpecialTokenDoesNotFormAcrossABorder) {
  PromptText text;
  text.form("x").user("<|im_").form("end|>");
  for (const Token token : text.encode(tokenizer())) {
    EXPECT_NE(tokenizer().type(token), text::TokenType::control);
  }
}

TEST(PromptText, ParsedUserTextIsReadAsTheReferenceReadsTheWhole) {
  PromptText text(UserText::parsed);
  text.form("x<|im_").user("end|> and <|box_end|>").form("y");
  EXPECT_EQ(text.encode(tokenizer()), tokenizer().encode(text.text(), true));
}

TEST(PromptText, NothingGivesNoTokens) {
  EXPECT_TRUE(PromptText().form("").user("").encode(tokenizer()).empty());
}

TEST(PromptText, BordersAreCountsOfWholeTokensBeforeThem) {
  std::string opening;
  for (int i = 0; i < 30; ++i) opening += std::to_string(i) + ", ";
  PromptText text;
  text.form(opening + " th").border().user("e state").border().form(opening).border();
  const Tokens tokens = text.encode(tokenizer());
  const std::vector<int> borders = text.borders_in(tokens, tokenizer());
  ASSERT_EQ(borders.size(), 2u);  // the second one follows the first too closely
  std::string before;
  for (int i = 0; i < borders[0]; ++i) before += tokenizer().text_of(tokens[at(i)]);
  EXPECT_LT(before.size(), opening.size() + 3);  // " the" runs over the border
  EXPECT_EQ(text.text().substr(0, before.size()), before);
  EXPECT_EQ(borders[1], count_of(tokens));
}

}  // namespace
}  // namespace adjudge
