#include "family/render/label_code.h"

#include <algorithm>
#include <set>

#include "family/test_model.h"

namespace adjudge {
namespace {

using namespace testing;

TEST(LabelCode, CodesAreLettersThenPairsOfLetters) {
  const std::vector<std::string> codes = capital_codes();
  ASSERT_EQ(codes.size(), 26u + 26u * 26u);
  EXPECT_EQ(codes[0], "A");
  EXPECT_EQ(codes[25], "Z");
  EXPECT_EQ(codes[26], "AA");
  EXPECT_EQ(codes[27], "AB");
  EXPECT_EQ(codes.back(), "ZZ");
}

TEST(LabelCode, LabelsAreSingleTokensEachOfItsOwn) {
  const TestModel model = open_tiny("tiny-openjev-f32");
  const auto labels = value_of(bare_labels(*model.tokenizer, capital_codes(), 26));
  EXPECT_EQ(labels.size(), 255u);
  std::set<Token> tokens;
  for (const Label& label : labels) {
    ASSERT_EQ(label.tokens.size(), 1u);
    EXPECT_EQ(model.tokenizer->text_of(label.tokens[0]), label.code);
    tokens.insert(label.tokens[0]);
  }
  EXPECT_EQ(tokens.size(), labels.size());
}

TEST(LabelCode, PassesOverCodesThatAreSeveralTokens) {
  const TestModel model = open_tiny("tiny-openjev-f32");
  const auto labels = value_of(bare_labels(*model.tokenizer, {"A", "no such token", "B"}, 1));
  ASSERT_EQ(labels.size(), 2u);
  EXPECT_EQ(labels[1].code, "B");
  const auto refused = bare_labels(*model.tokenizer, {"A", "no such token", "B"}, 2);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::bad_model);
  EXPECT_NE(refused.error().message().find("\"no such token\""), std::string::npos);
}

}  // namespace
}  // namespace adjudge
