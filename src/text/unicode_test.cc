#include "text/unicode.h"

#include <gtest/gtest.h>

namespace adjudge::text {
namespace {

TEST(Unicode, KindsAreThoseOfUnicode15_1) {
  EXPECT_EQ(kind_of(U'a'), CharKind::letter);
  EXPECT_EQ(kind_of(U'ª'), CharKind::letter);
  EXPECT_EQ(kind_of(U'中'), CharKind::letter);
  EXPECT_EQ(kind_of(0x2EBF0), CharKind::letter);  // new in 15.1
  EXPECT_EQ(kind_of(0x1C89), CharKind::other);    // a letter since 16.0
  EXPECT_EQ(kind_of(0x0301), CharKind::mark);
  EXPECT_EQ(kind_of(U'½'), CharKind::number);
  EXPECT_EQ(kind_of(U'Ⅳ'), CharKind::number);
  EXPECT_EQ(kind_of(U'_'), CharKind::other);
  EXPECT_EQ(kind_of(0x10FFFF), CharKind::other);
}

TEST(Unicode, WhiteSpaceIsThePropertyOfThatName) {
  for (const char32_t code :
       {0x09, 0x0D, 0x20, 0x85, 0xA0, 0x1680, 0x200A, 0x2028, 0x202F, 0x3000}) {
    EXPECT_EQ(kind_of(code), CharKind::space) << std::hex << static_cast<unsigned>(code);
  }
  for (const char32_t code : {0x08, 0x1C, 0x1F, 0x180E, 0x200B, 0x2060, 0xFEFF}) {
    EXPECT_EQ(kind_of(code), CharKind::other) << std::hex << static_cast<unsigned>(code);
  }
}

TEST(Unicode, AsciiKindsAgreeWithTheTable) {
  for (char32_t code = 0; code < 128; ++code) {
    EXPECT_EQ(kAsciiKinds[code], kind_of(code)) << static_cast<unsigned>(code);
  }
}

TEST(Unicode, EveryCodePointIsReadAsItIsWritten) {
  for (char32_t code = 0; code <= 0x10FFFF; code += code < 0x3000 ? 1 : 97) {
    std::string text;
    append_utf8(code, text);
    const Char found = char_at(text, 0);
    ASSERT_EQ(found.bytes, text.size());
    ASSERT_EQ(found.kind, kind_of(code));
    ASSERT_FALSE(repair(text).has_value());
  }
}

TEST(Unicode, NothingStandsBehindTheEnd) {
  EXPECT_EQ(char_at("", 0).kind, CharKind::end);
  EXPECT_EQ(char_at("a", 1).bytes, 0);
}

TEST(Unicode, WellFormedTextNeedsNoRepair) {
  EXPECT_FALSE(repair("").has_value());
  EXPECT_FALSE(repair("a é 中 🙂 \xED\xA0\x80").has_value());  // surrogates stay
}

TEST(Unicode, BytesThatStartNoSequenceAreReplacedOneByOne) {
  EXPECT_EQ(repair("a\xFF\xFE"
                   "b"),
            "a\uFFFD\uFFFDb");
  EXPECT_EQ(repair("\x80\xBF"), "\uFFFD\uFFFD");
  EXPECT_EQ(repair("\xE4\xB8"), "\uFFFD\uFFFD");
  EXPECT_EQ(repair("\xE4\xB8z"), "\uFFFD\uFFFDz");
  EXPECT_EQ(repair("\xF0\x9F\x99"), "\uFFFD\uFFFD\uFFFD");
}

TEST(Unicode, LongFormsBecomeTheCharacterTheySpell) {
  EXPECT_EQ(repair("\xC1\x81"), "A");
  EXPECT_EQ(repair("\xE0\x81\x81"), "A");
}

TEST(Unicode, BeyondTheLastCodePointIsReplaced) {
  EXPECT_EQ(repair("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");
}

}  // namespace
}  // namespace adjudge::text
