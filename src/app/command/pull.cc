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

Result<std::string> pull(const std::string& name) {
  const CatalogueEntry* entry = catalogue().find(name);
  if (entry == nullptr) {
    return Error{ErrorKind::bad_request, name + ": no name that `adjudge models` lists"};
  }
  ADJ_TRY(const std::string folder, models_folder());
  return fetch_model(*entry, folder);
}

}  // namespace

void add_pull_command(CLI::App& program, Run& chosen) {
  CLI::App* command = program.add_subcommand("pull", "fetch a model of the catalogue");
  const auto name = std::make_shared<std::string>("default");
  command->add_option("name", *name, "a name that `adjudge models` lists")->capture_default_str();
  command->callback([&chosen, name] {
    chosen = [name] {
      const Result<std::string> path = pull(*name);
      if (!path.ok()) return report(path.error());
      std::printf("%s\n", path.value().c_str());
      return ExitStatus::success;
    };
  });
}

}  // namespace adjudge::app
