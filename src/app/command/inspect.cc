// adjudge inspect: what a model file is.
#include <CLI/CLI.hpp>
#include <iostream>

#include "app/command.h"
#include "app/options.h"
#include "decide/explain.h"
#include "json/print.h"

namespace adjudge::app {

namespace {

ExitStatus run_inspect(ModelFlags& flags) {
  const auto file = flags.open_file();
  if (!file.ok()) return report(file.error());
  std::cout << json::print(inspect(*file.value()), json::Flavour::indent2) << "\n";
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
  command->add_option("--family", flags->options.family,
                      "ask this family's way, whatever the file says");
  command->callback([flags, &chosen] { chosen = [flags] { return run_inspect(*flags); }; });
}

}  // namespace adjudge::app
