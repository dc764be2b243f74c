#include "text/split.h"

#include <gtest/gtest.h>

#include <vector>

namespace adjudge::text {
namespace {

std::string pieces(std::string_view pre, std::string_view text) {
  const Split* split = find_split(pre);
  EXPECT_NE(split, nullptr) << pre;
  std::string joined;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = split->piece_end(text, begin);
    EXPECT_GT(end, begin);
    if (begin > 0) joined += '|';
    joined += text.substr(begin, end - begin);
    begin = end;
  }
  return joined;
}

TEST(Split, Llama3TakesDigitsByThree) {
  EXPECT_EQ(pieces("llama-bpe", "x 1234567y"), "x| |123|456|7|y");
  EXPECT_EQ(pieces("qwen2", "x 1234"), "x| |1|2|3|4");
  EXPECT_EQ(pieces("gpt-2", "x 1234567y"), "x| 1234567|y");
}

TEST(Split, OneCharacterMayLeadAWord) {
  EXPECT_EQ(pieces("qwen2", "(a) _b $c"), "(a|)| _|b| $|c");
  EXPECT_EQ(pieces("qwen2", "\ta\nb"), "\ta|\n|b");
  EXPECT_EQ(pieces("gpt-2", "(a)\tb"), "(|a|)|\t|b");
}

TEST(Split, ContractionsIgnoreCaseButInGpt2) {
  EXPECT_EQ(pieces("qwen2", "It's we'LL 'tis"), "It|'s| we|'LL| '|tis");
  EXPECT_EQ(pieces("gpt-2", "It's we'LL"), "It|'s| we|'|LL");
  EXPECT_EQ(pieces("qwen2", "'ſ"), "'ſ");  // folds to s only by the book
}

TEST(Split, MarksBelongToWordsInQwen35Only) {
  EXPECT_EQ(pieces("qwen35", "e\u0301x"), "e\u0301x");
  EXPECT_EQ(pieces("qwen2", "e\u0301x"), "e|\u0301x");
  EXPECT_EQ(pieces("gpt-2", "e\u0301x"), "e|\u0301|x");
}

TEST(Split, TheLastBlankBelongsToWhatFollows) {
  for (const auto* pre : {"qwen2", "qwen35", "llama-bpe", "gpt-2", "modern-bert"}) {
    EXPECT_EQ(pieces(pre, "a   b"), "a|  | b") << pre;
    EXPECT_EQ(pieces(pre, "a   "), "a|   ") << pre;
    EXPECT_EQ(pieces(pre, "a "), "a| ") << pre;
    EXPECT_EQ(pieces(pre, "a\u00A0\u00A0!"), "a|\u00A0|\u00A0|!") << pre;
  }
}

TEST(Split, LinesEndPiecesButInGpt2) {
  EXPECT_EQ(pieces("qwen2", "a \n\n  b"), "a| \n\n| | b");
  EXPECT_EQ(pieces("qwen2", "a!\r\n\r\nb"), "a|!\r\n\r\n|b");
  EXPECT_EQ(pieces("gpt-2", "a \n\n  b"), "a| \n\n | b");
}

TEST(Split, EveryNameOfTheListIsFound) {
  const std::string names = split_names();
  for (std::size_t begin = 0; begin < names.size();) {
    const std::size_t end = std::min(names.find(", ", begin), names.size());
    EXPECT_NE(find_split(names.substr(begin, end - begin)), nullptr);
    begin = end + 2;
  }
  EXPECT_EQ(find_split("megrez")->name, "qwen2");
  EXPECT_EQ(find_split("lfm2")->name, "llama-bpe");
  EXPECT_EQ(find_split("phi-2")->name, "gpt-2");
  EXPECT_EQ(find_split("default"), nullptr);
  EXPECT_EQ(find_split(""), nullptr);
}

}  // namespace
}  // namespace adjudge::text
