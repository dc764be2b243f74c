// adjudge pull [NAME]: the only command that fetches anything.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "app/catalogue.h"
#include "app/command.h"
#include "app/fetch.h"
#include "base/try.h"

namespace adjudge::app {

namespace {

Result<ExitStatus> pull(const std::string& name) {
  const CatalogueEntry* entry = catalogue().find(name);
  if (entry == nullptr) {
    return Error{ErrorKind::bad_request, name + ": no name that `adjudge models` lists"};
  }
  ADJ_TRY(const std::string folder, models_folder());
  ADJ_TRY(const std::string path, fetch_model(*entry, folder));
  std::printf("%s\n", path.c_str());
  return ExitStatus::success;
}

}  // namespace

void add_pull_command(CLI::App& program, Run& chosen) {
  CLI::App* command = program.add_subcommand("pull", "fetch a model of the catalogue");
  const auto name = std::make_shared<std::string>(kDefaultModel);
  command->add_option("name", *name, "a name that `adjudge models` lists")->capture_default_str();
  run_when_chosen(*command, chosen, [name] { return pull(*name); });
}

}  // namespace adjudge::app
