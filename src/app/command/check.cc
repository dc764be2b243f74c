// adjudge check: replay recorded requests and compare.
#include "decide/check.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <map>
#include <tuple>

#include "app/command.h"
#include "app/options.h"
#include "base/size.h"
#include "base/try.h"

namespace adjudge::app {

namespace {

// How many of the largest differences are shown.
constexpr int kShownMax = 5;

struct CheckFlags {
  ModelFlags model;
  CheckOptions options;
  std::string recorded;
  double limit = 2e-5;
};

const char* outcome_text(CheckOutcome outcome) {
  switch (outcome) {
    case CheckOutcome::compared:
      return "compared";
    case CheckOutcome::refused:
      return "refused, no answer expected";
    case CheckOutcome::answered:
      return "answered, recorded as refused";
    case CheckOutcome::excepted:
      return "run, not compared";
    case CheckOutcome::other_model:
      return "of another model, not run";
    case CheckOutcome::ids_differ:
      return "TOKEN IDS DIFFER";
    case CheckOutcome::wrongly_refused:
      return "REFUSED, recorded as answered";
  }
  return "";
}

Result<std::vector<CheckedLine>> check_lines(const Model& model, const CheckFlags& flags) {
  std::ifstream stream(flags.recorded, std::ios::binary);
  if (!stream) return Error{ErrorKind::bad_request, flags.recorded + ": cannot read"};
  std::vector<CheckedLine> checked;
  int line_number = 0;
  for (std::string text; std::getline(stream, text);) {
    ++line_number;
    if (text.empty()) continue;
    const std::string place = flags.recorded + ":" + std::to_string(line_number) + ": ";
    const Result<json::Value> line = json::parse(text);
    if (!line.ok()) return Error{ErrorKind::bad_request, place + line.error().message()};
    Result<CheckedLine> result = check_line(model, line.value(), flags.options);
    if (!result.ok()) return Error{result.error().kind, place + result.error().message()};
    checked.push_back(std::move(result).value());
  }
  ADJ_TRY_DONE(check_read(stream, flags.recorded));
  return checked;
}

// Prints what was found; true when nothing is over the limit.
bool summarise(std::vector<CheckedLine> checked, double limit) {
  bool good = true;
  std::map<CheckOutcome, int> counts;
  for (const CheckedLine& line : checked) {
    ++counts[line.outcome];
    if (line.outcome == CheckOutcome::ids_differ || line.outcome == CheckOutcome::wrongly_refused) {
      good = false;
      std::printf("%s: %s: %s\n", line.id.c_str(), outcome_text(line.outcome), line.place.c_str());
    }
  }
  std::ranges::sort(checked, [](const auto& a, const auto& b) {
    return std::tie(b.difference, a.id) < std::tie(a.difference, b.id);
  });
  for (int i = 0; i < std::min(kShownMax, count_of(checked)); ++i) {
    const CheckedLine& line = checked[at(i)];
    if (line.outcome == CheckOutcome::compared) {
      std::printf("%.2e  %s  %s\n", line.difference, line.id.c_str(), line.place.c_str());
    }
  }
  for (const auto& [outcome, count] : counts) std::printf("%5d %s\n", count, outcome_text(outcome));
  const double largest = checked.empty() ? 0 : checked.front().difference;
  good = good && largest <= limit && counts[CheckOutcome::compared] > 0;
  std::printf("largest difference %.2e, limit %.2e: %s\n", largest, limit,
              good ? "good" : "NOT GOOD");
  return good;
}

Result<ExitStatus> run_check(CheckFlags& flags) {
  ADJ_TRY(const std::unique_ptr<Model> model, flags.model.open_model());
  ADJ_TRY(std::vector<CheckedLine> checked, check_lines(*model, flags));
  return summarise(std::move(checked), flags.limit) ? ExitStatus::success : ExitStatus::failure;
}

}  // namespace

void add_check_command(CLI::App& program, Run& chosen) {
  auto flags = std::make_shared<CheckFlags>();
  CLI::App* command = program.add_subcommand(
      "check",
      "compare with recorded answers of another implementation: prompt ids, then probabilities");
  command->footer(
      "Fails when ids differ, an answer is refused, or a difference is over the limit. To compare "
      "with a server's decision log, which holds no prompts and may hold no requests: replay.");
  flags->model.add_to(*command);
  add_compile_flags(*command, flags->options.compile);
  command
      ->add_option("recorded", flags->recorded,
                   "JSON lines with body, status, response and prompts")
      ->required();
  command->add_option("--limit", flags->limit, "the largest difference that is good")
      ->capture_default_str();
  command
      ->add_option("--against", flags->options.against,
                   "the member that holds the recorded answers")
      ->capture_default_str();
  command->add_flag("--any-model", flags->options.any_model,
                    "compare lines recorded from a model of another name too");
  command->add_option("--except", flags->options.exceptions,
                      "ids that begin so are run and not compared (repeatable)");
  run_when_chosen(*command, chosen, [flags] { return run_check(*flags); });
}

}  // namespace adjudge::app
