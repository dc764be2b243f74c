#include "decide/option_orders.h"

#include <gtest/gtest.h>

#include "base/size.h"

namespace adjudge {
namespace {

Request asking(int option_count) {
  Request request{.state = json::string("s")};
  Question choice{.id = "c"};
  for (int i = 0; i < option_count; ++i) choice.options.push_back({std::to_string(i), {}});
  request.questions = {{.id = "n", .kind = QuestionKind::noul, .options = {{}, {}}}, choice};
  return request;
}

// What a model says that likes `favourite` by 0.5 and the first place by another 0.5.
Response biased(const Request& request, const std::string& favourite) {
  Response response;
  for (const Question& question : request.questions) {
    Answer answer{.id = question.id, .kind = question.kind};
    answer.label_mass = question.options.front().key == favourite ? 0.8 : 0.4;
    for (const Option& option : question.options) {
      answer.probabilities.push_back(option.key == favourite ? 0.5 : 0.0);
    }
    answer.probabilities[0] += 0.5;
    answer.best = count_of(response.answers) == 0 ? 0 : answer.best;
    response.answers.push_back(answer);
  }
  response.usage = {10, 20};
  return response;
}

TEST(OptionOrders, EveryOptionComesFirstOnce) {
  const auto orders = option_orders(asking(3), 8);
  ASSERT_EQ(orders.size(), 3u);
  EXPECT_EQ(orders[0].questions.size(), 2u) << "a noul is asked once";
  EXPECT_EQ(orders[1].questions.size(), 1u);
  EXPECT_EQ(orders[1].questions[0].options[0].key, "1");
  EXPECT_EQ(orders[2].questions[0].options[0].key, "2");
}

TEST(OptionOrders, NoMoreThanAllowed) {
  EXPECT_EQ(option_orders(asking(255), 8).size(), 8u);
  EXPECT_EQ(option_orders(asking(1), 8).size(), 1u);
}

TEST(OptionOrders, WhatAModelPrefersByPlaceAveragesOut) {
  const Request request = asking(4);
  std::vector<Response> responses;
  for (const Request& order : option_orders(request, 8)) {
    responses.push_back(biased(order, "2"));
  }
  std::vector<const Response*> each;
  for (const Response& response : responses) each.push_back(&response);
  const Response mean = mean_of_orders(request, each, 8);
  const Answer& answer = mean.answers[1];
  const std::vector<double> expected = {0.125, 0.125, 0.625, 0.125};
  ASSERT_EQ(answer.probabilities.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_DOUBLE_EQ(answer.probabilities[i], expected[i]);
  EXPECT_EQ(answer.best, 2);
  EXPECT_EQ(answer.orders->count, 4);
  EXPECT_DOUBLE_EQ(answer.label_mass.value(), 0.5);
  EXPECT_EQ(answer.orders->spread, std::vector<double>(4, 0.5));
  EXPECT_EQ(mean.usage.input_tokens, 40);
  EXPECT_FALSE(mean.answers[0].orders);
}

}  // namespace
}  // namespace adjudge
