// adjudge decide: requests in, answers out.
#include <CLI/CLI.hpp>
#include <chrono>
#include <fstream>
#include <iostream>

#include "app/command.h"
#include "app/options.h"
#include "app/table.h"
#include "base/size.h"
#include "base/try.h"
#include "protocol/error_body.h"
#include "protocol/systemone.h"

namespace adjudge::app {

namespace {

// Lines that wait together go through the network together; more than these would only add latency.
constexpr int kLinesTogetherMax = 16;

struct DecideFlags {
  ModelFlags model;
  CompileOptions compile;
  std::string input = "-";
  bool table = false;
  bool lines = false;
};

double milliseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

Result<ExitStatus> decide_one(const Model& model, const DecideFlags& flags, double load_ms) {
  ADJ_TRY(const std::string body, read_input(flags.input));
  ADJ_TRY(const Request request, parse_systemone(body, {}));
  ADJ_TRY(const Response response, decide(model, std::span(&request, 1), {flags.compile, {}})[0]);
  if (flags.table) {
    std::cout << format_table(request, response) << format_timing(response, load_ms);
  } else {
    std::cout << print_systemone(response, request) << "\n";
  }
  return ExitStatus::success;
}

// One output line per input line, in order; a bad line becomes an error line and the rest goes on.
ExitStatus answer_lines(const Model& model, const CompileOptions& compile,
                        std::span<const std::string> lines) {
  ExitStatus status = ExitStatus::success;
  std::vector<Result<Request>> parsed;
  std::vector<Request> requests;
  for (const std::string& line : lines) {
    parsed.push_back(parse_systemone(line, {}));
    if (parsed.back().ok()) requests.push_back(parsed.back().value());
  }
  const auto responses = decide(model, requests, {compile, {}});
  auto next = responses.begin();
  for (const Result<Request>& request : parsed) {
    const Error* error = request.ok() ? nullptr : &request.error();
    if (request.ok()) {
      if (next->ok()) {
        std::cout << print_systemone(next->value(), request.value()) << "\n";
      } else {
        error = &next->error();
      }
      ++next;
    }
    if (error == nullptr) continue;
    std::cout << print_error(*error) << "\n";
    status = exit_status(error->kind);
  }
  std::cout.flush();
  return status;
}

Result<ExitStatus> decide_lines(const Model& model, const DecideFlags& flags) {
  std::ifstream file;
  if (flags.input != "-") {
    file.open(flags.input, std::ios::binary);
    if (!file) return Error{ErrorKind::bad_request, flags.input + ": cannot read"};
  }
  std::istream& stream = flags.input == "-" ? std::cin : file;
  ExitStatus status = ExitStatus::success;
  std::vector<std::string> waiting;
  const auto answer_waiting = [&] {
    if (waiting.empty()) return;
    const ExitStatus answered = answer_lines(model, flags.compile, waiting);
    if (answered != ExitStatus::success) status = answered;
    waiting.clear();
  };
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty()) waiting.push_back(std::move(line));
    const bool more_at_hand = stream.rdbuf()->in_avail() > 0;
    if (count_of(waiting) >= kLinesTogetherMax || !more_at_hand) answer_waiting();
  }
  answer_waiting();
  ADJ_TRY_DONE(check_read(stream, flags.input));
  return status;
}

Result<ExitStatus> run_decide(DecideFlags& flags) {
  const auto begin = std::chrono::steady_clock::now();
  const bool lines = flags.lines || flags.input.ends_with(".jsonl");
  if (lines && flags.table) {
    return Error{ErrorKind::bad_request,
                 "--table shows one request; lines are answered with a line of JSON each"};
  }
  ADJ_TRY(const std::unique_ptr<Model> model, flags.model.open_model());
  const double load_ms = milliseconds_since(begin);
  ADJ_TRY(const ExitStatus status,
          lines ? decide_lines(*model, flags) : decide_one(*model, flags, load_ms));
  flags.model.put_away(*model);
  return status;
}

}  // namespace

void add_decide_command(CLI::App& program, Run& chosen) {
  auto flags = std::make_shared<DecideFlags>();
  CLI::App* command = program.add_subcommand("decide", "answer a request, or one per line");
  flags->model.add_to(*command);
  add_compile_flags(*command, flags->compile);
  command
      ->add_option("request", flags->input,
                   "a System One request (JSON), .jsonl for one per line, - for standard input")
      ->capture_default_str();
  command->add_flag("--table", flags->table, "a table for people instead of JSON; for one request");
  command->add_flag("--lines", flags->lines, "the input is JSON lines, whatever its name");
  run_when_chosen(*command, chosen, [flags] { return run_decide(*flags); });
}

}  // namespace adjudge::app
