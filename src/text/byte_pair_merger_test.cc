#include "text/byte_pair_merger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "text/fake_vocabulary.h"

namespace adjudge::text {
namespace {

struct Opened {
  explicit Opened(const FakeVocabulary& fake, bool takes_whole_words = false)
      : vocabulary(Vocabulary::read(fake.metadata()).value()),
        merger(BytePairMerger::read(fake.metadata(), vocabulary, takes_whole_words).value()) {}

  std::string encode(std::string_view piece) const {
    BytePairMerger::Scratch scratch;
    Tokens tokens;
    merger.encode(piece, scratch, tokens);
    std::string shown;
    for (const Token token : tokens) {
      if (!shown.empty()) shown += ' ';
      shown += vocabulary.text(token);
    }
    return shown;
  }

  Vocabulary vocabulary;
  BytePairMerger merger;
};

// The definition: merge the pair with the lowest rank, the leftmost of equals, until there is none.
std::string encode_by_the_book(std::string_view piece, const std::vector<std::string>& merges) {
  std::map<std::string, std::size_t> ranks;
  for (std::size_t rank = 0; rank < merges.size(); ++rank) ranks.try_emplace(merges[rank], rank);
  std::vector<std::string> parts;
  for (const char byte : piece) parts.emplace_back(1, byte);
  while (true) {
    std::size_t best = merges.size();
    std::size_t place = 0;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto found = ranks.find(parts[i] + " " + parts[i + 1]);
      if (found != ranks.end() && found->second < best) {
        best = found->second;
        place = i;
      }
    }
    if (best == merges.size()) break;
    parts[place] += parts[place + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }
  std::string shown;
  for (const std::string& part : parts) shown += (shown.empty() ? "" : " ") + part;
  return shown;
}

TEST(BytePairMerger, MergesByRankAndFromTheLeft) {
  FakeVocabulary fake;
  fake.merge("b", "c").merge("a", "b").merge("a", "a").merge("aa", "a");
  const Opened opened(fake);
  EXPECT_EQ(opened.encode("abc"), "a bc");
  EXPECT_EQ(opened.encode("ab"), "ab");
  EXPECT_EQ(opened.encode("aaaa"), "aa aa");
  EXPECT_EQ(opened.encode("aaaaa"), "aa aaa");
  EXPECT_EQ(opened.encode(""), "");
}

TEST(BytePairMerger, AgreesWithTheDefinitionOnRandomVocabularies) {
  std::mt19937 random(2);
  for (int round = 0; round < 100; ++round) {
    FakeVocabulary fake;
    std::vector<std::string> known{"a", "b", "c"};
    while (fake.merges.size() < 12) {
      const std::string left = known[random() % known.size()];
      const std::string right = known[random() % known.size()];
      if (std::ranges::find(known, left + right) != known.end()) continue;
      fake.merge(left, right);
      known.push_back(left + right);
    }
    std::ranges::shuffle(fake.merges, random);
    const Opened opened(fake);
    for (int i = 0; i < 100; ++i) {
      std::string piece;
      for (std::size_t bytes = 1 + random() % 16; bytes > 0; --bytes) {
        piece.push_back(static_cast<char>('a' + random() % 3));
      }
      const std::string expected = encode_by_the_book(piece, fake.merges);
      ASSERT_EQ(opened.encode(piece), expected);
      ASSERT_EQ(opened.encode(piece), expected) << "the second time";
    }
  }
}

TEST(BytePairMerger, TakesAWordThatIsATokenOnlyWhereToldTo) {
  FakeVocabulary fake;
  fake.merge("a", "b").add("abc", TokenType::normal);
  EXPECT_EQ(Opened(fake, true).encode("abc"), "abc");
  EXPECT_EQ(Opened(fake, false).encode("abc"), "ab c");
  EXPECT_EQ(Opened(fake, false).encode("abc"), "ab c");
}

TEST(BytePairMerger, PassesThroughTextsThatAreNoTokens) {
  FakeVocabulary fake;
  fake.merges = {"a b", "ab c"};  // "ab" is no token
  fake.add("abc", TokenType::normal);
  EXPECT_EQ(Opened(fake).encode("abc"), "abc");
  EXPECT_EQ(Opened(fake).encode("abd"), "a b d");
}

TEST(BytePairMerger, OfTwoEqualMergesTheFirstCounts) {
  FakeVocabulary fake;
  fake.merge("a", "b").merge("b", "c");
  fake.merges.push_back("a b");
  EXPECT_EQ(Opened(fake).encode("abc"), "ab c");
}

TEST(BytePairMerger, SkipsMergesThatNameNoPair) {
  FakeVocabulary fake;
  fake.merge("a", "b");
  for (const auto* merge : {"", " ", "ab", "a ", " b", "zz yy x"}) fake.merges.emplace_back(merge);
  EXPECT_EQ(Opened(fake).encode("abzz"), "ab z z");
}

TEST(BytePairMerger, DropsBytesTheVocabularyLacks) {
  FakeVocabulary fake;
  fake.tokens['z'] = "instead of z";
  EXPECT_EQ(Opened(fake).encode("azb"), "a b");
}

TEST(BytePairMerger, MissingMergesAreAnErrorThatNamesTheKey) {
  const FakeVocabulary fake;
  gguf::Metadata metadata;
  const Vocabulary vocabulary = Vocabulary::read(fake.metadata()).value();
  const auto read = BytePairMerger::read(metadata, vocabulary, false);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().kind, ErrorKind::bad_model);
  EXPECT_NE(read.error().message().find("tokenizer.ggml.merges"), std::string::npos);
}

}  // namespace
}  // namespace adjudge::text
