// Responses, and requests for tests and recordings, to one line of JSON.

#include "base/size.h"
#include "json/print.h"
#include "protocol/systemone.h"

namespace adjudge {
namespace {

using json::Member;
using json::Value;

Value probabilities_of(const Answer& answer, const Question& question) {
  std::vector<Member> members;
  for (int i = 0; i < count_of(question.options); ++i) {
    members.push_back({question.options[at(i)].key, json::real(answer.probabilities[at(i)])});
  }
  return json::object(std::move(members));
}

Value descriptions_of(const Question& question) {
  std::vector<Member> members;
  for (const Option& option : question.options) members.push_back({option.key, option.description});
  return json::object(std::move(members));
}

Value numbers(const std::vector<double>& values) {
  std::vector<Value> items;
  for (const double value : values) items.push_back(json::real(value));
  return json::array(std::move(items));
}

Value value_of(const OrderReport& orders, const Question& question) {
  std::vector<Member> spread;
  for (int i = 0; i < count_of(question.options); ++i) {
    spread.push_back({question.options[at(i)].key, json::real(orders.spread[at(i)])});
  }
  return json::object({{"count", json::integer(orders.count)},
                       {"flips", json::integer(orders.flip_count)},
                       {"spread", json::object(std::move(spread))}});
}

void add_extras(const Answer& answer, const Question& question, const Extras& extras,
                std::vector<Member>& members) {
  if (extras.temperature) members.push_back({"x_temperature", json::real(answer.temperature)});
  if (extras.logits) {
    std::vector<Value> readings;
    for (const auto& logits : answer.logits) readings.push_back(numbers(logits));
    members.push_back({"x_logits", json::array(std::move(readings))});
  }
  if (answer.label_mass) members.push_back({"x_label_mass", json::real(*answer.label_mass)});
  if (answer.orders) members.push_back({"x_orders", value_of(*answer.orders, question)});
  if (extras.confidence_min) {
    const bool abstained = answer.sureness() < *extras.confidence_min;
    members.push_back({"x_abstained", json::boolean(abstained)});
  }
}

void add_extras(const Response& response, const Extras& extras, std::vector<Member>& members) {
  if (extras.usage) {
    const int prompt = response.usage.prompt_tokens;
    const int evaluated = response.usage.evaluated_tokens;
    members.push_back(
        {"x_usage", json::object({{"prompt_tokens", json::integer(prompt)},
                                  {"evaluated_tokens", json::integer(evaluated)},
                                  {"reused_tokens", json::integer(prompt - evaluated)}})});
  }
  if (extras.timing) {
    const auto& [compile, evaluate, read] = response.timing;
    members.push_back({"x_timing", json::object({{"compile_ms", json::real(compile)},
                                                 {"evaluate_ms", json::real(evaluate)},
                                                 {"read_ms", json::real(read)}})});
  }
}

Value value_of(const Answer& answer, const Question& question, const Extras& extras) {
  CHECK(answer.probabilities.size() == question.options.size());
  std::vector<Member> members = {{"type", json::string(kind_name(answer.kind))}};
  switch (answer.kind) {
    case QuestionKind::noul:
      members.push_back({"noul", json::real(answer.value)});
      break;
    case QuestionKind::choice:
      members.push_back({"choice", json::string(question.options[at(answer.best)].key)});
      members.push_back({"confidence", json::real(answer.confidence)});
      members.push_back({"probabilities", probabilities_of(answer, question)});
      break;
    case QuestionKind::score:
      members.push_back({"score", json::real(answer.value)});
      members.push_back({"confidence", json::real(answer.confidence)});
      members.push_back({"legend", descriptions_of(question)});
      members.push_back({"probabilities", probabilities_of(answer, question)});
      break;
  }
  add_extras(answer, question, extras, members);
  return json::object(std::move(members));
}

Value lengths_of(const CutText& text) {
  return json::object(
      {{"tokens", json::integer(text.token_count)}, {"kept", json::integer(text.kept_count)}});
}

Value keys_of(const Question& question, const std::vector<int>& options) {
  std::vector<Value> keys;
  for (const int option : options) keys.push_back(json::string(question.options[at(option)].key));
  return json::array(std::move(keys));
}

Value value_of(const Truncation& truncation, const Question& question) {
  std::vector<Member> members;
  if (truncation.question.is_cut())
    members.push_back({"question", lengths_of(truncation.question)});
  if (!truncation.options_cut.empty()) {
    members.push_back({"options", keys_of(question, truncation.options_cut)});
  }
  if (!truncation.options_alike.empty()) {
    members.push_back({"options_alike", keys_of(question, truncation.options_alike)});
  }
  if (truncation.state.is_cut()) members.push_back({"state", lengths_of(truncation.state)});
  return json::object(std::move(members));
}

Value criteria_of(const Question& question) {
  if (question.kind != QuestionKind::score) return descriptions_of(question);
  std::vector<Value> levels;
  for (const Option& option : question.options) levels.push_back(option.description);
  return json::array(std::move(levels));
}

Value value_of(const Question& question) {
  return json::object({{"type", json::string(kind_name(question.kind))},
                       {"instructions", question.instructions},
                       {"criteria", criteria_of(question)}});
}

}  // namespace

std::string print_systemone(const Response& response, const Request& request) {
  CHECK(response.answers.size() == request.questions.size());
  std::vector<Member> answers, truncated;
  for (int i = 0; i < count_of(response.answers); ++i) {
    const Answer& answer = response.answers[at(i)];
    const Question& question = request.questions[at(i)];
    answers.push_back({answer.id, value_of(answer, question, request.extras)});
    if (!answer.truncation.any()) continue;
    truncated.push_back({answer.id, value_of(answer.truncation, question)});
  }
  const Value usage = json::object({{"input_tokens", json::integer(response.usage.input_tokens)},
                                    {"output_tokens", json::integer(0)}});  // nothing is generated
  std::vector<Member> members = {{"model", json::string(response.model)},
                                 {"answers", json::object(std::move(answers))},
                                 {"usage", usage}};
  add_extras(response, request.extras, members);
  if (!truncated.empty()) members.push_back({"x_truncated", json::object(std::move(truncated))});
  return json::print(json::object(std::move(members)), json::Flavour::compact);
}

std::string print_request(const Request& request) {
  std::vector<Member> members;
  if (!request.model.empty()) members.push_back({"model", json::string(request.model)});
  members.push_back({"state", request.state});
  std::vector<Member> questions;
  for (const Question& question : request.questions) {
    questions.push_back({question.id, value_of(question)});
  }
  members.push_back({"questions", json::object(std::move(questions))});
  return json::print(json::object(std::move(members)), json::Flavour::compact);
}

}  // namespace adjudge
