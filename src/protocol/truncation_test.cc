// What an answer says about texts that the model did not read whole.
#include <gtest/gtest.h>

#include "protocol/systemone.h"

namespace adjudge {
namespace {

Response response_with(const Truncation& truncation) {
  Answer answer{.id = "team", .kind = QuestionKind::choice, .probabilities = {0.5, 0.25, 0.25}};
  answer.truncation = truncation;
  return {"m", {answer}, {}, {}};
}

Request request() {
  Question question{"team", QuestionKind::choice, {}, {}};
  for (const char* key : {"a", "b", "c"}) question.options.push_back({key, json::null()});
  return {"", json::string("s"), {question}};
}

std::string told(const Truncation& truncation) {
  const std::string body = print_systemone(response_with(truncation), request());
  const json::Value printed = json::parse(body).value();
  const json::Value* found = printed.find("x_truncated");
  return found == nullptr ? "nothing" : body.substr(body.find("\"x_truncated\""));
}

TEST(Truncation, NothingIsSaidWhereNothingWasCut) {
  EXPECT_EQ(told({}), "nothing");
  EXPECT_EQ(told({.question = {9, 9}, .state = {80, 80}}), "nothing");
  EXPECT_FALSE(response_with({}).truncated());
}

TEST(Truncation, QuestionOptionsAndStateAreNamed) {
  const Truncation truncation{.question = {90, 22},
                              .state = {9000, 8100},
                              .options_cut = {0, 1, 2},
                              .options_alike = {0, 2}};
  EXPECT_TRUE(response_with(truncation).truncated());
  EXPECT_EQ(told(truncation),
            R"("x_truncated":{"team":{"question":{"tokens":90,"kept":22},"options":["a","b","c"],)"
            R"("options_alike":["a","c"],"state":{"tokens":9000,"kept":8100}}}})");
  EXPECT_EQ(told({.options_cut = {1}}), R"("x_truncated":{"team":{"options":["b"]}}})");
}

}  // namespace
}  // namespace adjudge
