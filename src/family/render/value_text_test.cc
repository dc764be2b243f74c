#include "family/render/value_text.h"

#include <gtest/gtest.h>

namespace adjudge {
namespace {

json::Value parsed(std::string_view text) { return json::parse(text).value(); }

TEST(ValueText, StringsAreRawAndTheRestIsJson) {
  EXPECT_EQ(str_or(json::string("a \"b\" é"), json::Flavour::py), "a \"b\" é");
  EXPECT_EQ(str_or(parsed(R"({"b": [1, 1.0], "a": "é"})"), json::Flavour::py),
            R"({"b": [1, 1.0], "a": "é"})");
  EXPECT_EQ(str_or(parsed(R"({"b": 1, "a": 2})"), json::Flavour::py_sorted), R"({"a": 2, "b": 1})");
  EXPECT_EQ(str_or(json::null(), json::Flavour::py), "null");
}

TEST(ValueText, AbsentInstructionsAreEmpty) {
  Question question;
  EXPECT_EQ(instructions_text(question, json::Flavour::py), "");
  question.instructions = json::integer(0);
  EXPECT_EQ(instructions_text(question, json::Flavour::py), "0");
}

TEST(ValueText, FalsyIsWhatPythonCallsFalse) {
  for (const char* falsy : {"null", "false", "0", "-0", "0.0", "-0.0", "0e5", "\"\"", "[]", "{}"}) {
    EXPECT_TRUE(is_falsy(parsed(falsy))) << falsy;
  }
  for (const char* truthy : {"true", "1", "-1", "0.1", "\"0\"", "\" \"", "[0]", R"({"": null})"}) {
    EXPECT_FALSE(is_falsy(parsed(truthy))) << truthy;
  }
}

}  // namespace
}  // namespace adjudge
