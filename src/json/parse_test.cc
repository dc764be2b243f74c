#include <gtest/gtest.h>

#include <algorithm>

#include "json/print.h"
#include "json/value.h"

namespace adjudge::json {
namespace {

std::string reprint(std::string_view text) { return print(parse(text).value(), Flavour::compact); }

Fault refusal(std::string_view text, const ParseLimits& limits = {}) {
  const auto value = parse(text, limits);
  EXPECT_FALSE(value.ok()) << text.substr(0, 80) << " was accepted";
  return value.ok() ? Fault{} : value.error().faults.at(0);
}

std::string nested(int depth, std::string_view opening, std::string_view closing) {
  std::string text;
  for (int i = 0; i < depth; ++i) text += opening;
  for (int i = 0; i < depth; ++i) text += closing;
  return text;
}

TEST(Parse, KeepsIntegersOfAnySizeExact) {
  for (const char* text : {"18446744073709551615", "-9223372036854775808", "18446744073709551616",
                           "-123456789012345678901234567890"}) {
    const Value value = parse(text).value();
    EXPECT_EQ(value.type, Type::integer);
    EXPECT_EQ(value.text, text);
  }
}

TEST(Parse, TellsIntegersFromReals) {
  EXPECT_EQ(parse("1").value().type, Type::integer);
  EXPECT_EQ(parse("1.0").value().type, Type::real);
  EXPECT_EQ(parse("1e3").value().type, Type::real);
  EXPECT_EQ(reprint("[-0,-0.0]"), "[0,-0.0]");
}

TEST(Parse, RefusesNumbersBeyondADouble) {
  for (const std::string& text :
       {std::string("1e400"), std::string("[-1e309]"), std::string(400, '9')}) {
    const Fault fault = refusal(text);
    EXPECT_EQ(fault.type, "json_invalid");
    EXPECT_NE(fault.message.find("beyond what a double holds"), std::string::npos) << fault.message;
  }
}

TEST(Parse, KeepsZeroCharactersInStringsAndRefusesZeroBytes) {
  EXPECT_EQ(parse(R"("a\u0000b")").value().text, std::string("a\0b", 3));
  EXPECT_EQ(refusal(std::string_view("[1]\0garbage", 11)).message,
            "invalid JSON at byte 3: a zero byte");
  EXPECT_EQ(refusal(std::string_view("\"a\0b\"", 5)).type, "json_invalid");
}

TEST(Parse, RefusesWhatIsNotStrictJson) {
  for (const char* text :
       {"",      " ",         "NaN",     "Infinity",  "-Infinity", "nul",     "01",
        "1.",    ".5",        "+1",      "0x1",       "1e",        "[1,]",    "{\"a\":1,}",
        "{a:1}", "{'a':1}",   "{\"a\"}", "{\"a\":}",  "[1",        "[1 2]",   "1 2",
        "\"",    "\"a",       "\"\\x\"", "\"\\u12\"", "\"\t\"",    "// c\n1", "[]]",
        "}",     "{\"a\":1]", "\"\n\""}) {
    const auto value = parse(text);
    ASSERT_FALSE(value.ok()) << text;
    EXPECT_EQ(value.error().kind, ErrorKind::bad_request);
    EXPECT_EQ(value.error().faults.at(0).type, "json_invalid") << text;
  }
}

// As Python does with bytes.
TEST(Parse, SkipsAByteOrderMark) { EXPECT_EQ(reprint("\xef\xbb\xbf[1]"), "[1]"); }

TEST(Parse, RefusesLoneSurrogatesAndBytesThatAreNotUtf8) {
  for (const char* text : {R"("\ud800")", R"("\udc00")", R"("\ud800\ud800")", R"("\ud800x")",
                           "\"\x80\"", "\"\xc0\x80\"", "\"\xc3\"", "\"\xed\xa0\x80\"",
                           "\"\xf4\x90\x80\x80\"", "\"\xff\"", "{\"\xe9\":1}"}) {
    EXPECT_EQ(refusal(text).type, "json_invalid") << text;
  }
  EXPECT_EQ(reprint(R"("\ud83d\ude00")"), "\"\xf0\x9f\x98\x80\"");
}

TEST(Parse, SaysWhereAndWhyInAShortMessage) {
  EXPECT_EQ(refusal(R"({"a":})").message.find("invalid JSON at byte 5: while parsing value"), 0u);
  EXPECT_LT(refusal("\"" + std::string(1 << 20, 'a')).message.size(), 200u);
  EXPECT_LT(refusal(std::string(1 << 20, '9')).message.size(), 200u);
}

TEST(Parse, LetsTheLastValueOfARepeatedKeyWinAtThePlaceOfTheFirst) {
  EXPECT_EQ(reprint(R"({"a":1,"b":2,"a":3,"c":4,"b":5,"a":6})"), R"({"a":6,"b":5,"c":4})");
  EXPECT_EQ(reprint(R"({"o":{"x":1},"o":{"y":1,"y":[{"z":1,"z":2}]}})"),
            R"({"o":{"y":[{"z":2}]}})");
}

// Every key three times.
std::string object_text(int member_count) {
  std::string text = "{\"0\":0";
  for (int i = 1; i < member_count; ++i) {
    text += ",\"" + std::to_string(i / 3) + "\":" + std::to_string(i);
  }
  return text + "}";
}

TEST(Parse, MergesTheKeysOfALargeObject) {
  const Value value = parse(object_text(30'000)).value();
  ASSERT_EQ(value.members.size(), 10'000u);
  EXPECT_EQ(value.members[7].key, "7");
  EXPECT_EQ(value.members[7].value.text, "23");
}

// A reader that compared every key with every other would not come back before the test's time is
// out.
TEST(Parse, MergesTheKeysOfAnObjectAsLargeAsTheLimitsAllow) {
  const Value value = parse(object_text(900'000)).value();
  EXPECT_EQ(value.members.size(), 300'000u);
}

TEST(Parse, RefusesDeepNestingBeforeReadingAnything) {
  const ParseLimits limits;
  EXPECT_TRUE(parse(nested(limits.depth_max, "[", "]")).ok());
  EXPECT_EQ(refusal(nested(limits.depth_max + 1, "[", "]")).type, "too_deep");
  EXPECT_EQ(refusal(nested(5'000, "[", "]")).message,
            "too many containers inside each other, at most 64");
  EXPECT_EQ(refusal(nested(5'000, "{\"a\":", "}")).type, "too_deep");
  EXPECT_EQ(refusal(std::string(5'000'000, '[')).type, "too_deep");
}

TEST(Parse, CountsNoBracketsInsideStrings) {
  EXPECT_TRUE(
      parse("[\"" + std::string(100, '[') + "\\\"" + std::string(100, '{') + "\\\\\"]").ok());
  EXPECT_EQ(refusal("[\"\\\\\"," + nested(64, "[", "]") + "]").type, "too_deep");
}

TEST(Parse, RefusesTooManyBytesAtOnce) {
  const auto value = parse(std::string(std::size_t{200} << 20, ' '));
  ASSERT_FALSE(value.ok());
  EXPECT_EQ(value.error().kind, ErrorKind::too_large);
  EXPECT_EQ(value.error().message(), "209715200 bytes of JSON, at most 33554432");
}

TEST(Parse, RefusesTooManyValues) {
  ParseLimits limits;
  limits.value_count_max = 4;
  EXPECT_TRUE(parse("[1,2,3]", limits).ok());
  EXPECT_EQ(refusal("[1,2,3,4]", limits).type, "too_long");
  EXPECT_EQ(refusal("[[],[],[],[]]", limits).type, "too_long");
  limits.value_count_max = 0;
  EXPECT_EQ(refusal("{}", limits).type, "too_long");
}

TEST(Parse, SurvivesADepthFarAboveTheDefaultLimit) {
  constexpr int kDepth = 2'000;
  const std::string text = nested(kDepth, "[", "]");
  const Value value = parse(text, {.depth_max = kDepth}).value();
  EXPECT_EQ(print(sorted(value), Flavour::canon), text);
}

TEST(Value, FindsMembersByName) {
  const Value value = parse(R"({"a": 1, "": "x"})").value();
  EXPECT_EQ(value.find("")->text, "x");
  EXPECT_EQ(value.find("b"), nullptr);
  EXPECT_EQ(parse("[1]").value().find("a"), nullptr);
}

TEST(Value, IsMadeFromWhatItHolds) {
  const Value value = object({{"n", null()},
                              {"b", boolean(true)},
                              {"i", integer(-3)},
                              {"r", real(3)},
                              {"a", array({string("s")})}});
  EXPECT_EQ(print(value, Flavour::compact), R"({"n":null,"b":true,"i":-3,"r":3.0,"a":["s"]})");
}

}  // namespace
}  // namespace adjudge::json
