// adjudge explain: what would happen to a request, without weights.
#include "decide/explain.h"

#include <CLI/CLI.hpp>
#include <iostream>

#include "app/command.h"
#include "app/options.h"
#include "json/print.h"
#include "protocol/systemone.h"

namespace adjudge::app {

namespace {

struct ExplainFlags {
  ModelFlags model;
  CompileOptions compile;
  std::string input = "-";
};

ExitStatus run_explain(ExplainFlags& flags) {
  const Result<std::string> body = read_input(flags.input);
  if (!body.ok()) return report(body.error());
  const Result<Request> request = parse_systemone(body.value(), {});
  if (!request.ok()) return report(request.error());
  const auto file = flags.model.open_file();
  if (!file.ok()) return report(file.error());
  const Result<json::Value> explained = explain(*file.value(), request.value(), flags.compile);
  if (!explained.ok()) return report(explained.error());
  std::cout << json::print(explained.value(), json::Flavour::py) << "\n";
  return ExitStatus::success;
}

}  // namespace

void add_explain_command(CLI::App& program, Run& chosen) {
  auto flags = std::make_shared<ExplainFlags>();
  CLI::App* command = program.add_subcommand(
      "explain", "show a request's prompts, tree, steps and readings as JSON; reads no weights");
  flags->model.add_file_to(*command);
  add_compile_flags(*command, flags->compile);
  command->add_option("request", flags->input, "a System One request (JSON), - for standard input");
  command->callback([flags, &chosen] { chosen = [flags] { return run_explain(*flags); }; });
}

}  // namespace adjudge::app
