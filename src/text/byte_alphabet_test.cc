#include "text/byte_alphabet.h"

#include <gtest/gtest.h>

namespace adjudge::text {
namespace {

std::string letters_of(std::string_view bytes) {
  std::string letters;
  append_letters(bytes, letters);
  return letters;
}

TEST(ByteAlphabet, SpellsWhatVocabulariesSpell) {
  EXPECT_EQ(letters_of("a b"), "aĠb");
  EXPECT_EQ(letters_of("\n\t"), "Ċĉ");
  EXPECT_EQ(letters_of("é"), "Ã©");
  EXPECT_EQ(letters_of("\xAD\x7F"), "Ńġ");
}

TEST(ByteAlphabet, GivesEveryByteBack) {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes.push_back(static_cast<char>(byte));
  EXPECT_EQ(bytes_of_letters(letters_of(bytes)), bytes);
}

TEST(ByteAlphabet, LeavesWhatIsNoLetter) {
  EXPECT_EQ(bytes_of_letters("中 \xFF"), "中 \xFF");
  EXPECT_EQ(bytes_of_letters("\xC4"), "\xC4");
}

}  // namespace
}  // namespace adjudge::text
