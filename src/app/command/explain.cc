// adjudge explain: what would happen to a request, without weights.
#include "decide/explain.h"

#include <CLI/CLI.hpp>
#include <iostream>

#include "app/command.h"
#include "app/options.h"
#include "base/try.h"
#include "json/print.h"
#include "protocol/systemone.h"

namespace adjudge::app {

namespace {

struct ExplainFlags {
  ModelFlags model;
  CompileOptions compile;
  std::string input = "-";
};

Result<ExitStatus> run_explain(ExplainFlags& flags) {
  ADJ_TRY(const std::string body, read_input(flags.input));
  ADJ_TRY(const Request request, parse_systemone(body, {}));
  ADJ_TRY(const std::unique_ptr<ModelFile> file, flags.model.open_file());
  ADJ_TRY(const json::Value explained, explain(*file, request, flags.compile));
  std::cout << json::print(explained, json::Flavour::py) << "\n";
  return ExitStatus::success;
}

}  // namespace

void add_explain_command(CLI::App& program, Run& chosen) {
  auto flags = std::make_shared<ExplainFlags>();
  CLI::App* command = program.add_subcommand(
      "explain", "show a request's prompts, tree, steps and readings as JSON; reads no weights");
  flags->model.add_model_to(*command);
  flags->model.add_reading_to(*command);
  add_compile_flags(*command, flags->compile);
  command->add_option("request", flags->input, "a System One request (JSON), - for standard input")
      ->capture_default_str();
  run_when_chosen(*command, chosen, [flags] { return run_explain(*flags); });
}

}  // namespace adjudge::app
