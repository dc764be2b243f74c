#include "decide/fold.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/size.h"

namespace adjudge {
namespace {

using Values = std::vector<double>;

Question question_of(QuestionKind kind, int option_count) {
  Question question{.id = "asked", .kind = kind};
  for (int i = 0; i < option_count; ++i) question.options.push_back({.key = std::to_string(i)});
  return question;
}

// One reading for each order.
QuestionPlan plan_of(std::initializer_list<std::vector<int>> orders, Fold fold = Fold::mean) {
  QuestionPlan plan{.fold = fold};
  for (const std::vector<int>& order : orders) plan.readings.push_back({.option_of = order});
  return plan;
}

void expect_near(const Values& found, const Values& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-12) << i;
}

TEST(Fold, DividesByTheTemperatureOfTheKind) {
  Calibration calibration;
  calibration.temperatures["choice"] = 2;
  const std::vector<Values> logits = {{2 * std::log(3.0), 0}};
  const Answer answer =
      fold(question_of(QuestionKind::choice, 2), plan_of({{0, 1}}), logits, calibration).value();
  expect_near(answer.probabilities, {0.75, 0.25});
  EXPECT_EQ(answer.temperature, 2);
  EXPECT_EQ(answer.logits, logits);
  EXPECT_EQ(answer.best, 0);
  EXPECT_NEAR(answer.confidence, 0.5, 1e-12);
}

TEST(Fold, AveragesTwoOrdersEachPutBack) {
  const std::vector<Values> logits = {{std::log(3.0), 0, 0}, {std::log(8.0), 0, 0}};
  const Answer answer =
      fold(question_of(QuestionKind::choice, 3), plan_of({{0, 1, 2}, {2, 1, 0}}), logits, {})
          .value();
  // 3/5, 1/5, 1/5 and, read backwards, 1/10, 1/10, 8/10.
  expect_near(answer.probabilities, {0.35, 0.15, 0.5});
  EXPECT_EQ(answer.best, 2);
}

TEST(Fold, ReadsARatingScaleAsTheProbabilityOfYes) {
  const std::vector<Values> logits = {{0, 0, std::log(2.0)}};
  const Answer answer =
      fold(question_of(QuestionKind::noul, 2), plan_of({{0, 1, 2}}, Fold::rating_scale), logits, {})
          .value();
  // 1/4, 1/4, 1/2 of 0, 1/2, 1.
  expect_near(answer.probabilities, {0.375, 0.625});
  EXPECT_NEAR(answer.value, 0.625, 1e-12);
  EXPECT_EQ(answer.confidence, 0);
}

TEST(Fold, AddsTheBiasAfterTheTemperature) {
  Calibration calibration;
  calibration.temperatures["score"] = 100;
  calibration.biases["score.2"] = {std::log(3.0), 0};
  const std::vector<Values> logits = {{0, 0}};
  const Answer answer =
      fold(question_of(QuestionKind::score, 2), plan_of({{0, 1}}), logits, calibration).value();
  expect_near(answer.probabilities, {0.75, 0.25});
  EXPECT_NEAR(answer.value, 0.25, 1e-12);
}

TEST(Fold, AddsTheBiasOfANoulToItsRatingScaleToo) {
  Calibration calibration;
  calibration.biases["noul"] = {0, std::log(3.0)};
  const std::vector<Values> logits = {{0, 0, 0}};
  const Answer answer = fold(question_of(QuestionKind::noul, 2),
                             plan_of({{0, 1, 2}}, Fold::rating_scale), logits, calibration)
                            .value();
  expect_near(answer.probabilities, {0.25, 0.75});
}

TEST(Fold, KnowsNoBiasThatIsTooLarge) {
  Calibration calibration;
  const std::vector<Values> logits = {{0, 0}};
  const auto probabilities = [&](Values bias, const std::vector<Values>& read) {
    calibration.biases["choice"] = std::move(bias);
    return fold(question_of(QuestionKind::choice, 2), plan_of({{0, 1}}), read, calibration)
        .value()
        .probabilities;
  };
  expect_near(probabilities({5000, 5000}, logits), {0.5, 0.5});
  expect_near(probabilities({-5000, -5000}, logits), {0.5, 0.5});
  expect_near(probabilities({-5000, 0}, {{0, -1e6}}), {1, 0});  // the second's is zero
}

TEST(Fold, LeavesABiasForAnotherNumberOfOptionsOut) {
  Calibration calibration;
  calibration.biases["choice"] = {1, 2, 3};
  const std::vector<Values> logits = {{0, 0}};
  const Answer answer =
      fold(question_of(QuestionKind::choice, 2), plan_of({{0, 1}}), logits, calibration).value();
  expect_near(answer.probabilities, {0.5, 0.5});
}

TEST(Fold, RefusesALogitThatIsNoNumber) {
  for (const Fold kind : {Fold::mean, Fold::rating_scale}) {
    const std::vector<Values> logits = {{0, std::nan("")}};
    const auto refused =
        fold(question_of(QuestionKind::noul, 2), plan_of({{0, 1}}, kind), logits, {});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().kind, ErrorKind::bad_model);
  }
}

}  // namespace
}  // namespace adjudge
