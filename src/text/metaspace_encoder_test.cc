#include "text/metaspace_encoder.h"

#include <gtest/gtest.h>

#include "text/fake_vocabulary.h"

namespace adjudge::text {
namespace {

constexpr const char* kSpace = "\u2581";

// Characters, some merges, byte tokens for the bytes of "é", and marks of its own.
FakeVocabulary metaspace() {
  FakeVocabulary fake;
  fake.tokens.clear();
  fake.types.clear();
  fake.pre = "mmbert";
  fake.add("<0xC3>", TokenType::byte).add("<0xA9>", TokenType::byte);
  for (const char* letter : {"a", "b", kSpace, "\n"}) fake.add(letter, TokenType::normal);
  fake.merge(kSpace, "a").merge("a", "b").merge(kSpace, kSpace);
  fake.add("\n\n", TokenType::normal);
  fake.add("<mask>", TokenType::control);
  return fake;
}

std::string shown(std::string_view text) {
  const FakeVocabulary fake = metaspace();
  const auto tokenizer = Tokenizer::open(fake.metadata()).value();
  std::string shown;
  for (const Token token : tokenizer->encode(text, true)) {
    shown += (shown.empty() ? "" : " ") + fake.tokens[at(token)];
  }
  return shown;
}

TEST(MetaspaceEncoder, EveryLineBeginsWithASpaceAndEverySpaceBeginsAWord) {
  EXPECT_EQ(shown("ab"), "▁a b");
  EXPECT_EQ(shown(" ab"), "▁a b");
  EXPECT_EQ(shown("▁ab"), "▁a b");
  EXPECT_EQ(shown("b ab"), "▁ b ▁a b");
  EXPECT_EQ(shown("  b"), "▁ ▁ b");  // never the token of two spaces
  EXPECT_EQ(shown(""), "");
  EXPECT_EQ(shown(" "), "▁");
}

TEST(MetaspaceEncoder, LineFeedsStandAloneAndWholeWhereTheyAreAToken) {
  EXPECT_EQ(shown("a\nb"), "▁a \n ▁ b");
  EXPECT_EQ(shown("a\n\na"), "▁a \n\n ▁a");
  EXPECT_EQ(shown("\n\n\n"), "\n \n \n");
  EXPECT_EQ(shown("a \n"), "▁a ▁ \n");
}

TEST(MetaspaceEncoder, WhatHasNoTokenBecomesItsBytes) {
  EXPECT_EQ(shown("aéb"), "▁a <0xC3> <0xA9> b");
  EXPECT_EQ(shown("a€b"), "▁a b");  // no tokens for its bytes either
}

TEST(MetaspaceEncoder, BlanksBeforeAMaskAreStripped) {
  EXPECT_EQ(shown("a \t\n <mask> b"), "▁a <mask> ▁ b");
}

TEST(MetaspaceEncoder, TokensStandForTheirTexts) {
  const FakeVocabulary fake = metaspace();
  const auto tokenizer = Tokenizer::open(fake.metadata()).value();
  std::string text;
  for (const Token token : tokenizer->encode("ab é", false)) text += tokenizer->text_of(token);
  EXPECT_EQ(text, " ab é");
}

}  // namespace
}  // namespace adjudge::text
