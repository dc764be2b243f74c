#include "decide/check.h"

#include <cmath>
#include <optional>

#include "base/size.h"
#include "base/try.h"
#include "protocol/systemone.h"

namespace adjudge {

namespace {

using json::Value;

std::string text_of(const Value* value) { return value != nullptr ? value->text : std::string{}; }

bool begins_with_any(const std::string& text, const std::vector<std::string>& prefixes) {
  for (const std::string& prefix : prefixes) {
    if (text.starts_with(prefix)) return true;
  }
  return false;
}

// Empty when the recorded ids are ours; else where they differ.
std::string compare_ids(const Tokens& ours, const Value& recorded) {
  for (std::size_t k = 0; k < std::max(ours.size(), recorded.items.size()); ++k) {
    const std::string our_id = k < ours.size() ? std::to_string(ours[k]) : "nothing";
    const std::string recorded_id = k < recorded.items.size() ? recorded.items[k].text : "nothing";
    if (our_id == recorded_id) continue;
    return "token " + std::to_string(k) + ": " + our_id + ", recorded " + recorded_id;
  }
  return {};
}

// The same of recorded roles, pairs of role and length.
std::string compare_roles(const std::vector<RoleRun>& ours, const Value& recorded) {
  if (ours.size() != recorded.items.size()) {
    return std::to_string(ours.size()) + " runs of roles, recorded " +
           std::to_string(recorded.items.size());
  }
  for (std::size_t k = 0; k < ours.size(); ++k) {
    const std::vector<Value>& pair = recorded.items[k].items;
    if (pair.size() == 2 && pair[0].text == std::to_string(ours[k].role) &&
        pair[1].text == std::to_string(ours[k].token_count)) {
      continue;
    }
    return "run " + std::to_string(k) + " of roles";
  }
  return {};
}

// Empty when the recorded prompts are ours; else which one differs, and where. `evaluated_ids` are
// recorded where a prompt was cut.
std::string compare_prompts(const Compiled& compiled, const Value& recorded) {
  if (recorded.items.size() != compiled.prompts.size()) {
    return std::to_string(compiled.prompts.size()) + " prompts, recorded " +
           std::to_string(recorded.items.size());
  }
  for (std::size_t i = 0; i < recorded.items.size(); ++i) {
    const Value* ids = recorded.items[i].find("evaluated_ids");
    if (ids == nullptr) ids = recorded.items[i].find("ids");
    if (ids == nullptr) continue;
    std::string difference = compare_ids(compiled.prompts[i].tokens, *ids);
    const Value* roles = recorded.items[i].find("roles");
    if (difference.empty() && roles != nullptr) {
      difference = compare_roles(compiled.notes[i].roles, *roles);
    }
    if (!difference.empty()) return "prompt " + std::to_string(i) + ", " + difference;
  }
  return {};
}

class Differences {
 public:
  void add(const std::string& place, double ours, const Value* recorded) {
    const std::optional<double> number = recorded == nullptr ? std::nullopt : number_of(*recorded);
    const double difference = number ? std::abs(ours - *number) : INFINITY;
    if (difference > largest || std::isnan(difference)) {
      largest = difference;
      where = place;
    }
  }
  double largest = 0;
  std::string where;
};

void compare_answer(const Question& question, const Answer& answer, const Value& recorded,
                    Differences& differences) {
  if (answer.kind == QuestionKind::noul) {
    differences.add(answer.id + ".noul", answer.value, recorded.find("noul"));
    return;
  }
  if (answer.kind == QuestionKind::score) {
    differences.add(answer.id + ".score", answer.value, recorded.find("score"));
  }
  const Value* probabilities = recorded.find("probabilities");
  for (int i = 0; i < count_of(question.options); ++i) {
    const std::string& key = question.options[at(i)].key;
    differences.add(answer.id + ".probabilities." + key, answer.probabilities[at(i)],
                    probabilities == nullptr ? nullptr : probabilities->find(key));
  }
}

bool is_callers_error(ErrorKind kind) {
  return kind == ErrorKind::bad_request || kind == ErrorKind::too_large ||
         kind == ErrorKind::not_supported;
}

struct Replay {
  CheckedLine checked;
  const Value* recorded_response = nullptr;
  const Value* recorded_prompts = nullptr;
};

Result<Replay> read_line(const Value& line, const CheckOptions& options) {
  Replay replay;
  replay.checked.id = text_of(line.find("id"));
  if (const Value* status = line.find("status"); status == nullptr || status->text == "200") {
    replay.recorded_response = line.find(options.against);
    if (replay.recorded_response == nullptr) {
      return Error{ErrorKind::bad_request, "recorded line \"" + replay.checked.id +
                                               "\" has no member \"" + options.against + "\""};
    }
  }
  replay.recorded_prompts = line.find("prompts");
  return replay;
}

// Fills the outcome of a request that our parser or family refused.
CheckedLine refused(CheckedLine checked, const Error& error, bool answer_expected) {
  checked.outcome = !answer_expected && is_callers_error(error.kind)
                        ? CheckOutcome::refused
                        : CheckOutcome::wrongly_refused;
  checked.place = error.message();
  return checked;
}

}  // namespace

Result<CheckedLine> check_line(const Model& model, const Value& line, const CheckOptions& options) {
  ADJ_TRY(Replay replay, read_line(line, options));
  CheckedLine& checked = replay.checked;
  const bool recorded_as_answer = replay.recorded_response != nullptr;
  const bool excepted = begins_with_any(checked.id, options.exceptions);
  const bool answer_expected = recorded_as_answer && !excepted;
  if (const std::string name = text_of(line.find("model"));
      !options.any_model && !name.empty() && name != model.file().name()) {
    checked.outcome = CheckOutcome::other_model;
    return checked;
  }

  const Result<Request> request = parse_systemone(text_of(line.find("body")), {});
  if (!request.ok()) return refused(checked, request.error(), answer_expected);
  const Result<Compiled> compiled =
      compile_within_limits(model.file(), request.value(), options.compile);
  if (!compiled.ok()) return refused(checked, compiled.error(), answer_expected);
  if (answer_expected && replay.recorded_prompts != nullptr) {
    checked.place = compare_prompts(compiled.value(), *replay.recorded_prompts);
    if (!checked.place.empty()) {
      checked.outcome = CheckOutcome::ids_differ;
      return checked;
    }
  }

  const auto responses = decide(model, std::span(&request.value(), 1), {options.compile, {}});
  if (!responses[0].ok()) return refused(checked, responses[0].error(), answer_expected);
  if (!answer_expected) {
    checked.outcome = excepted ? CheckOutcome::excepted : CheckOutcome::answered;
    return checked;
  }
  Differences differences;
  const Value* answers = replay.recorded_response->find("answers");
  for (int q = 0; q < count_of(request.value().questions); ++q) {
    const Answer& answer = responses[0].value().answers[at(q)];
    const Value* recorded = answers == nullptr ? nullptr : answers->find(answer.id);
    compare_answer(request.value().questions[at(q)], answer,
                   recorded == nullptr ? Value{} : *recorded, differences);
  }
  checked.difference = differences.largest;
  checked.place = differences.where;
  return checked;
}

}  // namespace adjudge
