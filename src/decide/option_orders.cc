#include "decide/option_orders.h"

#include <algorithm>

#include "base/size.h"
#include "decide/fold.h"

namespace adjudge {

namespace {

int order_count_of(const Question& question, int order_count_max) {
  if (question.kind != QuestionKind::choice) return 1;
  return std::min(count_of(question.options), order_count_max);
}

// Where the options begin in the given order.
int shift_of(const Question& question, int order, int order_count) {
  return order * count_of(question.options) / order_count;
}

// Adds the orders' distributions up, each put back into the request's order.
struct Spread {
  std::vector<double> sum, least, most;
  double label_mass = 0;  // summed, where there is one
  int order_count = 0;
  int flip_count = 0;  // orders in which another option was best than in the first

  void add(const Answer& answer, int shift) {
    const int option_count = count_of(answer.probabilities);
    if (order_count == 0) {
      sum.assign(at(option_count), 0.0);
      least.assign(at(option_count), 1.0);
      most.assign(at(option_count), 0.0);
      first_best = answer.best;
    }
    ++order_count;
    label_mass += answer.label_mass.value_or(0);
    flip_count += (answer.best + shift) % option_count != first_best;
    for (int i = 0; i < option_count; ++i) {
      const double p = answer.probabilities[at(i)];
      const std::size_t option = at((i + shift) % option_count);
      sum[option] += p;
      least[option] = std::min(least[option], p);
      most[option] = std::max(most[option], p);
    }
  }

  void finish(Answer& answer) const {
    OrderReport report{order_count, flip_count, {}};
    for (std::size_t i = 0; i < sum.size(); ++i) {
      answer.probabilities[i] = sum[i] / order_count;
      report.spread.push_back(most[i] - least[i]);
    }
    if (answer.label_mass) answer.label_mass = label_mass / order_count;
    answer.orders = std::move(report);
  }

 private:
  int first_best = 0;
};

}  // namespace

std::vector<Request> option_orders(const Request& request, int order_count_max) {
  std::vector<Request> orders = {request};
  for (int order = 1; order < order_count_max; ++order) {
    Request other{.model = request.model, .state = request.state, .extras = request.extras};
    for (const Question& question : request.questions) {
      const int order_count = order_count_of(question, order_count_max);
      if (order >= order_count) continue;
      Question rotated = question;
      std::ranges::rotate(rotated.options,
                          rotated.options.begin() + shift_of(question, order, order_count));
      other.questions.push_back(std::move(rotated));
    }
    if (other.questions.empty()) break;
    orders.push_back(std::move(other));
  }
  return orders;
}

Response mean_of_orders(const Request& request, std::span<const Response* const> responses,
                        int order_count_max) {
  Response mean = *responses.front();
  std::vector<Spread> spreads(request.questions.size());
  for (int order = 0; order < count_of(responses); ++order) {
    auto answer = responses[at(order)]->answers.begin();
    for (int q = 0; q < count_of(request.questions); ++q) {
      const Question& question = request.questions[at(q)];
      const int order_count = order_count_of(question, order_count_max);
      if (order >= order_count) continue;
      spreads[at(q)].add(*answer++, shift_of(question, order, order_count));
    }
    if (order == 0) continue;
    mean.usage += responses[at(order)]->usage;
  }
  for (int q = 0; q < count_of(request.questions); ++q) {
    if (request.questions[at(q)].kind != QuestionKind::choice) continue;
    spreads[at(q)].finish(mean.answers[at(q)]);
    describe(request.questions[at(q)], mean.answers[at(q)]);
  }
  return mean;
}

}  // namespace adjudge
