// adjudge inspect: what a model file is.
#include <CLI/CLI.hpp>
#include <iostream>

#include "app/command.h"
#include "app/options.h"
#include "base/try.h"
#include "decide/explain.h"
#include "json/print.h"

namespace adjudge::app {

namespace {

Result<ExitStatus> run_inspect(ModelFlags& flags) {
  ADJ_TRY(const std::unique_ptr<ModelFile> file, flags.open_file());
  std::cout << json::print(inspect(*file), json::Flavour::indent2) << "\n";
  return ExitStatus::success;
}

}  // namespace

void add_inspect_command(CLI::App& program, Run& chosen) {
  auto flags = std::make_shared<ModelFlags>();
  CLI::App* command = program.add_subcommand(
      "inspect",
      "describe a model file: family, backbone, sizes, limits, temperatures, special tokens");
  command->add_option("model", flags->model, "a GGUF file, or the name of a pulled model")
      ->required();
  flags->add_reading_to(*command);
  run_when_chosen(*command, chosen, [flags] { return run_inspect(*flags); });
}

}  // namespace adjudge::app
