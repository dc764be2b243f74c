#include "decide/fold.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/size.h"
#include "base/try.h"

namespace adjudge {

namespace {

// The mean of the readings' distributions, each put back into the order of the request's options.
Result<std::vector<double>> mean_of_readings(const QuestionPlan& plan,
                                             std::span<const std::vector<double>> logits,
                                             double temperature, int option_count) {
  std::vector<double> mean(at(option_count), 0.0);
  for (int r = 0; r < count_of(plan.readings); ++r) {
    ADJ_TRY(const std::vector<double> read, softmax(logits[at(r)], temperature));
    const std::vector<int>& option_of = plan.readings[at(r)].option_of;
    for (int i = 0; i < count_of(read); ++i) mean[at(option_of[at(i)])] += read[at(i)];
  }
  for (double& p : mean) p /= static_cast<double>(plan.readings.size());
  return mean;
}

// {P(no), P(yes)} of a noul that was asked as a rating from 0, certainly no, to n - 1, certainly
// yes.
Result<std::vector<double>> rating_as_yes(std::span<const double> logits, double temperature) {
  ADJ_TRY(const std::vector<double> ratings, softmax(logits, temperature));
  const double yes = expected_level(ratings) / static_cast<double>(ratings.size() - 1);
  return std::vector<double>{1.0 - yes, yes};
}

// Adds a bias to the logarithms of a distribution and makes it one again. No softmax(), as a
// probability may be zero.
void apply_bias(std::span<const double> bias, std::vector<double>& probabilities) {
  double top = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    probabilities[i] = std::log(probabilities[i]) + bias[i];
    top = std::max(top, probabilities[i]);
  }
  double sum = 0.0;
  for (double& p : probabilities) sum += p = std::exp(p - top);
  for (double& p : probabilities) p /= sum;
}

}  // namespace

void describe(const Question& question, Answer& answer) {
  answer.best = first_maximum(answer.probabilities);
  switch (question.kind) {
    case QuestionKind::choice:
      answer.confidence = choice_confidence(answer.probabilities);
      break;
    case QuestionKind::score:
      answer.value = expected_level(answer.probabilities);
      answer.confidence = score_confidence(answer.probabilities);
      break;
    case QuestionKind::noul:
      answer.value = answer.probabilities[1];
      break;
  }
}

Result<Answer> fold(const Question& question, const QuestionPlan& plan,
                    std::span<const std::vector<double>> logits, const Calibration& calibration) {
  const int option_count = count_of(question.options);
  const double temperature = calibration.temperature(question.kind, option_count);
  Answer answer;
  answer.id = question.id;
  answer.kind = question.kind;
  answer.truncation = plan.truncation;
  answer.temperature = temperature;
  answer.logits.assign(logits.begin(), logits.end());
  if (plan.fold == Fold::rating_scale) {
    ADJ_TRY(answer.probabilities, rating_as_yes(logits[0], temperature));
  } else {
    ADJ_TRY(answer.probabilities, mean_of_readings(plan, logits, temperature, option_count));
  }
  if (const auto* bias = calibration.bias(question.kind, option_count)) {
    apply_bias(*bias, answer.probabilities);
  }
  describe(question, answer);
  return answer;
}

}  // namespace adjudge
