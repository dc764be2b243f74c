#include "gguf/metadata.h"

#include <gtest/gtest.h>

#include <limits>

namespace adjudge::gguf {
namespace {

using Integers = std::vector<std::int64_t>;
using Strings = std::vector<std::string_view>;

Metadata sample() {
  Metadata metadata;
  metadata.add("integer", std::int64_t{7});
  metadata.add("negative", std::int64_t{-3});
  metadata.add("large", std::uint64_t{1} << 63);
  metadata.add("real", 0.25);
  metadata.add("whole", 3.0);
  metadata.add("huge", 1e300);
  metadata.add("boolean", true);
  metadata.add("string", std::string_view("a \"b\"\n\xff"));
  metadata.add("integers", Integers{1, 2, 3});
  metadata.add("reals", std::vector<double>{0.5});
  metadata.add("booleans", std::vector<bool>{true, false});
  metadata.add("strings", Strings{"x", "y"});
  return metadata;
}

template <class T>
std::string message(const Result<T>& result) {
  if (result.ok()) return "no error";
  EXPECT_EQ(result.error().kind, ErrorKind::bad_model);
  return result.error().message();
}

TEST(Metadata, KeepsTheOrderOfTheFile) {
  const Metadata metadata = sample();
  EXPECT_EQ(metadata.entries().size(), 12u);
  EXPECT_EQ(metadata.entries()[1].first, "negative");
  EXPECT_TRUE(metadata.has("strings"));
  EXPECT_FALSE(metadata.has("string "));
}

TEST(Metadata, AnyNumberTypeIsANumber) {
  const Metadata metadata = sample();
  EXPECT_EQ(metadata.integer("integer", 0, 10).value(), 7);
  EXPECT_EQ(metadata.integer("whole", 0, 10).value(), 3);
  EXPECT_EQ(metadata.find_integer("negative").value(), -3);
  EXPECT_EQ(metadata.real("integer").value(), 7.0);
  EXPECT_EQ(metadata.real("real").value(), 0.25);
  EXPECT_EQ(metadata.real("large").value(), 9223372036854775808.0);
}

TEST(Metadata, AnAbsentOptionalKeyIsNothing) {
  const Metadata metadata = sample();
  EXPECT_FALSE(metadata.find_integer("x").value().has_value());
  EXPECT_FALSE(metadata.find_real("x").value().has_value());
  EXPECT_FALSE(metadata.find_boolean("x").value().has_value());
  EXPECT_FALSE(metadata.find_string("x").value().has_value());
}

TEST(Metadata, AnAbsentRequiredKeyIsAnErrorThatSaysWhatBelongsThere) {
  const Metadata metadata = sample();
  EXPECT_EQ(message(metadata.integer("x.y", 1, 2)), "key \"x.y\" is missing, expected an integer");
  EXPECT_EQ(message(metadata.real("x.y")), "key \"x.y\" is missing, expected a number");
  EXPECT_EQ(message(metadata.string("x.y")), "key \"x.y\" is missing, expected a string");
  EXPECT_EQ(message(metadata.strings("x.y")),
            "key \"x.y\" is missing, expected an array of strings");
  EXPECT_EQ(message(metadata.integers("x.y")),
            "key \"x.y\" is missing, expected an integer or an array of integers");
  EXPECT_EQ(message(metadata.booleans("x.y")),
            "key \"x.y\" is missing, expected an array of booleans");
}

TEST(Metadata, AnErrorNamesKeyFoundAndExpected) {
  const Metadata metadata = sample();
  EXPECT_EQ(message(metadata.integer("integer", 8, 512)),
            "key \"integer\": found 7, expected an integer from 8 to 512");
  EXPECT_EQ(message(metadata.integer("integer", 8, 8)), "key \"integer\": found 7, expected 8");
  EXPECT_EQ(message(metadata.find_integer("real")),
            "key \"real\": found 0.25, expected an integer");
  EXPECT_EQ(message(metadata.find_integer("huge")),
            "key \"huge\": found 1e+300, expected an integer");
  EXPECT_EQ(message(metadata.find_integer("large")),
            "key \"large\": found 9223372036854775808, expected an integer below 2^63");
  EXPECT_EQ(message(metadata.find_integer("boolean")),
            "key \"boolean\": found true, expected an integer");
  EXPECT_EQ(message(metadata.find_real("strings")),
            "key \"strings\": found an array of 2 strings, expected a number");
  EXPECT_EQ(message(metadata.find_boolean("integer")),
            "key \"integer\": found 7, expected true or false");
  EXPECT_EQ(message(metadata.find_string("integers")),
            "key \"integers\": found an array of 3 integers, expected a string");
  EXPECT_EQ(message(metadata.strings("booleans")),
            "key \"booleans\": found an array of 2 booleans, expected an array of strings");
  EXPECT_EQ(message(metadata.integers("reals")),
            "key \"reals\": found an array of 1 number, expected an integer or an array of "
            "integers");
}

TEST(Metadata, AMessageShowsNoBytesThatTerminalsCannot) {
  const Metadata metadata = sample();
  EXPECT_EQ(message(metadata.booleans("string")),
            R"(key "string": found the string "a \"b\"\x0A\xFF", expected an array of booleans)");
  Metadata other;
  const std::string text(1000, 'x');
  other.add("long", std::string_view(text));
  EXPECT_EQ(
      message(other.find_integer("long")),
      "key \"long\": found the string \"" + std::string(80, 'x') + "\"..., expected an integer");
}

TEST(Metadata, AScalarIsAnArrayOfOneInteger) {
  const Metadata metadata = sample();
  EXPECT_EQ(metadata.integers("integer").value(), Integers{7});
  EXPECT_EQ(metadata.integers("integers").value(), (Integers{1, 2, 3}));
}

TEST(Metadata, ReturnsArraysAsTheyAre) {
  const Metadata metadata = sample();
  EXPECT_EQ(metadata.strings("strings").value(), (Strings{"x", "y"}));
  EXPECT_EQ(metadata.booleans("booleans").value(), (std::vector<bool>{true, false}));
}

}  // namespace
}  // namespace adjudge::gguf
