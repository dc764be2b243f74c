#include "json/print.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "support/support.h"

namespace adjudge::json {
namespace {

constexpr std::pair<const char*, Flavour> kFlavours[] = {
    {"py", Flavour::py},       {"py_sorted", Flavour::py_sorted}, {"compact", Flavour::compact},
    {"canon", Flavour::canon}, {"indent2", Flavour::indent2},
};

TEST(Print, EqualsPythonByteForByteInEveryFlavour) {
  std::istringstream lines(testing::read_file(testing::testdata("json/prints.jsonl")));
  int line_count = 0;
  for (std::string line; std::getline(lines, line); ++line_count) {
    const Value recorded = parse(line).value();
    const std::string& text = recorded.find("text")->text;
    const auto value = parse(text);
    ASSERT_TRUE(value.ok()) << text << ": " << value.error().message();
    for (const auto& [name, flavour] : kFlavours) {
      EXPECT_EQ(print(value.value(), flavour), recorded.find(name)->text) << name << " of " << text;
    }
  }
  EXPECT_GT(line_count, 250);
}

TEST(Print, ReadsBackToTheSameValue) {
  const std::string text =
      R"({"b": [1, 1.0, -0.0, 1e+16, "\u0000\"\\"], "a": {"": null}, "c": 123456789012345678901})";
  for (const auto& [name, flavour] : kFlavours) {
    const Value value = parse(text).value();
    const Value again = parse(print(value, flavour)).value();
    EXPECT_EQ(print(again, Flavour::canon), print(value, Flavour::canon)) << name;
  }
}

TEST(Print, SpellsWhatIsNoNumberAsPythonDoes) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(print(array({real(kInfinity), real(-kInfinity), real(std::nan(""))}), Flavour::py),
            "[Infinity, -Infinity, NaN]");
  EXPECT_EQ(python_repr(kInfinity), "inf");
  EXPECT_EQ(python_repr(-kInfinity), "-inf");
  EXPECT_EQ(python_repr(std::nan("")), "nan");
}

TEST(Quote, LeavesEverythingButQuotesBackslashesAndControlsAlone) {
  EXPECT_EQ(quote("a/\"\\\n\x01\x7f\xc3\xa9"), "\"a/\\\"\\\\\\n\\u0001\x7f\xc3\xa9\"");
}

TEST(Print, WhatIsNotUtf8IsReplacedByteByByte) {
  const std::pair<const char*, const char*> cases[] = {
      {"a\xff z", "a\ufffd z"},
      {"\x80", "\ufffd"},
      {"\xc3", "\ufffd"},
      {"\xc0\xaf", "\ufffd\ufffd"},                      // '/', spelled too long
      {"\xe0\x80\xaf", "\ufffd\ufffd\ufffd"},            // ... and longer
      {"\xed\xa0\x80", "\ufffd\ufffd\ufffd"},            // a surrogate
      {"\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd"},  // behind the last code point
      {"\xf0\x9f\x98", "\ufffd\ufffd\ufffd"},            // cut
      {"\xe2\x82(", "\ufffd\ufffd("},
      {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xee\x80\x80", "\u00e9\u20ac\U0001f600\ue000"},
  };
  for (const auto& [text, shown] : cases) {
    EXPECT_EQ(valid_utf8(text), shown);
    EXPECT_EQ(quote(text), "\"" + std::string(shown) + "\"");
    const auto again = parse(print(object({{text, string(text)}}), Flavour::compact));
    ASSERT_TRUE(again.ok()) << again.error().message();
    EXPECT_EQ(again.value().members[0].key, shown);
    EXPECT_EQ(again.value().members[0].value.text, shown);
  }
}

TEST(Sorted, OrdersMembersByCodePointAtEveryDepth) {
  const Value value = parse(R"({"b": [{"z": 1, "y": 2}], "\ud83d\ude00": 1, "\uffff": 2})").value();
  EXPECT_EQ(print(sorted(value), Flavour::py),
            "{\"b\": [{\"y\": 2, \"z\": 1}], \"\uffff\": 2, \"\U0001f600\": 1}");
}

}  // namespace
}  // namespace adjudge::json
