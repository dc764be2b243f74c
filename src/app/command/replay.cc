// adjudge replay: asks a model again what a server's decision log holds, and says what has changed.
#include <CLI/CLI.hpp>
#include <cmath>
#include <iostream>
#include <map>
#include <sstream>

#include "app/command.h"
#include "app/options.h"
#include "base/size.h"
#include "base/try.h"
#include "calibrate/calibration.h"
#include "json/print.h"
#include "protocol/systemone.h"
#include "serve/decision_log.h"

namespace adjudge::app {

namespace {

using json::Value;

struct ReplayFlags {
  ModelFlags model;
  CompileOptions compile;
  std::string log;
  std::string requests;  // a file of bodies, for logs that hold hashes alone
};

struct Report {
  int compared = 0;
  int without_request = 0;
  int refused = 0;  // by this model
  int broken_lines = 0;
  int choices_changed = 0;
  double largest_difference = 0;
  std::string where;  // id and question of that difference
};

using Requests = std::map<std::string, std::string>;  // hash to body

Result<Requests> read_requests(const std::string& path) {
  Requests requests;
  if (path.empty()) return requests;
  ADJ_TRY(const std::string content, read_input(path));
  std::istringstream lines(content);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    ADJ_TRY(const Request request, parse_systemone(line, {}));
    requests[serve::hash_of(request)] = line;
  }
  return requests;
}

std::string text_of(const Value& line, const char* name) {
  const Value* value = line.find(name);
  return value == nullptr ? std::string{} : value->text;
}

std::vector<double> logged_probabilities(const Value& line, const std::string& id) {
  std::vector<double> probabilities;
  const Value* answers = line.find("answers");
  const Value* answer = answers == nullptr ? nullptr : answers->find(id);
  const Value* logged = answer == nullptr ? nullptr : answer->find("probabilities");
  if (logged == nullptr) return probabilities;
  for (const Value& item : logged->items) {
    if (const std::optional<double> number = number_of(item)) probabilities.push_back(*number);
  }
  return probabilities;
}

void compare(const Value& line, const Response& response, Report& report) {
  for (const Answer& answer : response.answers) {
    const std::vector<double> logged = logged_probabilities(line, answer.id);
    const bool same_shape = logged.size() == answer.probabilities.size();
    double difference = same_shape ? 0 : 1;
    for (std::size_t i = 0; same_shape && i < logged.size(); ++i) {
      difference = std::max(difference, std::abs(logged[i] - answer.probabilities[i]));
    }
    report.choices_changed += !same_shape || first_maximum(logged) != answer.best;
    if (difference <= report.largest_difference) continue;
    report.largest_difference = difference;
    report.where = text_of(line, "id") + " " + answer.id;
  }
}

Status replay_line(const Model& model, const CompileOptions& compile, const Requests& requests,
                   const std::string& text, Report& report) {
  const Result<Value> parsed = json::parse(text);
  if (!parsed.ok()) {  // the disk was full, or the server was killed
    ++report.broken_lines;
    return Done{};
  }
  const Value& line = parsed.value();
  std::string body = text_of(line, "body");
  if (const auto found = requests.find(text_of(line, "request")); body.empty()) {
    if (found == requests.end()) {
      ++report.without_request;
      return Done{};
    }
    body = found->second;
  }
  ADJ_TRY(const Request request, parse_systemone(body, {}));
  const auto responses = decide(model, std::span(&request, 1), {compile, {}});
  if (!responses[0].ok()) {
    ++report.refused;
    return Done{};
  }
  ++report.compared;
  compare(line, responses[0].value(), report);
  return Done{};
}

void print(const Model& model, const Report& report) {
  const Value value = json::object({{"model", json::string(model.file().name())},
                                    {"fingerprint", json::string(model.file().fingerprint())},
                                    {"compared", json::integer(report.compared)},
                                    {"without_request", json::integer(report.without_request)},
                                    {"refused", json::integer(report.refused)},
                                    {"broken_lines", json::integer(report.broken_lines)},
                                    {"choices_changed", json::integer(report.choices_changed)},
                                    {"largest_difference", json::real(report.largest_difference)},
                                    {"where", json::string(report.where)}});
  std::cout << json::print(value, json::Flavour::compact) << "\n";
}

Result<ExitStatus> run_replay(ReplayFlags& flags) {
  ADJ_TRY(const Requests requests, read_requests(flags.requests));
  ADJ_TRY(const std::string log, read_input(flags.log));
  ADJ_TRY(const std::unique_ptr<Model> model, flags.model.open_model());
  Report report;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    ADJ_TRY_DONE(replay_line(*model, flags.compile, requests, line, report));
  }
  print(*model, report);
  return ExitStatus::success;
}

}  // namespace

void add_replay_command(CLI::App& program, Run& chosen) {
  auto flags = std::make_shared<ReplayFlags>();
  CLI::App* command = program.add_subcommand(
      "replay", "ask a model again what a server's decision log holds, and say what has changed");
  command->footer(
      "Succeeds whatever has changed: the report says how much. To hold a model to recorded "
      "answers, prompt ids and a limit: check.");
  flags->model.add_to(*command);
  add_compile_flags(*command, flags->compile);
  command->add_option("log", flags->log, "what serve --decision-log wrote; - is standard input")
      ->required();
  command->add_option("--requests", flags->requests,
                      "a file of request bodies, one a line, for a log that holds hashes alone");
  run_when_chosen(*command, chosen, [flags] { return run_replay(*flags); });
}

}  // namespace adjudge::app
