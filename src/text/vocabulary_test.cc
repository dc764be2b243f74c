#include "text/vocabulary.h"

#include <gtest/gtest.h>

#include "text/fake_vocabulary.h"

namespace adjudge::text {
namespace {

std::string refusal(const FakeVocabulary& fake) {
  const auto read = Vocabulary::read(fake.metadata());
  return read.ok() ? "accepted" : read.error().message();
}

TokenType type_of(const FakeVocabulary& fake, std::string_view text) {
  const Vocabulary vocabulary = Vocabulary::read(fake.metadata()).value();
  return vocabulary.type(vocabulary.find(text).value());
}

TEST(Vocabulary, RefusesATokenThatIsThereTwice) {
  FakeVocabulary fake;
  fake.add("twice", TokenType::normal).add("twice", TokenType::control);
  EXPECT_NE(refusal(fake).find("tokens 256 and 257 are both \"twice\""), std::string::npos);
}

TEST(Vocabulary, RefusesTypesThatAreNotOnePerToken) {
  FakeVocabulary fake;
  fake.types.pop_back();
  EXPECT_NE(refusal(fake).find("found 255 types, expected one for each of 256 tokens"),
            std::string::npos);
}

TEST(Vocabulary, RefusesATypeThatIsNone) {
  for (const int type : {-1, 0, 7}) {
    FakeVocabulary fake;
    fake.types[3] = type;
    EXPECT_NE(refusal(fake).find("of token 3, expected 1 to 6"), std::string::npos) << type;
  }
}

TEST(Vocabulary, RefusesNoTokensAtAll) {
  FakeVocabulary fake;
  fake.tokens.clear();
  fake.types.clear();
  EXPECT_NE(refusal(fake).find("the vocabulary is empty"), std::string::npos);
}

TEST(Vocabulary, NamesAnEmptyTextByItsToken) {
  FakeVocabulary fake;
  fake.add("", TokenType::user_defined);
  EXPECT_EQ(type_of(fake, "[EMPTY_256]"), TokenType::user_defined);
}

TEST(Vocabulary, TextsThatEndATurnAreControlTokens) {
  FakeVocabulary fake;
  fake.add("<|im_end|>", TokenType::user_defined).add("</s>", TokenType::normal);
  EXPECT_EQ(type_of(fake, "<|im_end|>"), TokenType::control);
  EXPECT_EQ(type_of(fake, "</s>"), TokenType::control);
}

TEST(Vocabulary, FillInTextsAreControlTokensWhereNoKeyNamesTheRole) {
  FakeVocabulary fake;
  fake.add("<|fim_prefix|>", TokenType::user_defined);
  EXPECT_EQ(type_of(fake, "<|fim_prefix|>"), TokenType::control);

  gguf::Metadata named = fake.metadata();
  named.add("tokenizer.ggml.prefix_token_id", std::int64_t{1});
  const Vocabulary vocabulary = Vocabulary::read(named).value();
  EXPECT_EQ(vocabulary.type(vocabulary.find("<|fim_prefix|>").value()), TokenType::user_defined);
}

TEST(Vocabulary, ChannelTextsAreUserDefined) {
  FakeVocabulary fake;
  for (const auto* text : {"<|channel|>", "<|end|>", "<|call|>", "<|return|>"}) {
    fake.add(text, TokenType::control);
  }
  EXPECT_EQ(type_of(fake, "<|channel|>"), TokenType::user_defined);
  EXPECT_EQ(type_of(fake, "<|end|>"), TokenType::user_defined);
  EXPECT_EQ(type_of(fake, "<|call|>"), TokenType::control);
}

}  // namespace
}  // namespace adjudge::text
