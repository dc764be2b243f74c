// adjudge models: the catalogue, and what of it is on this machine.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "app/catalogue.h"
#include "app/command.h"
#include "app/model_store.h"
#include "app/progress.h"
#include "base/try.h"

namespace adjudge::app {

namespace {

void print_entry(const CatalogueEntry& entry, const std::string& folder) {
  const bool is_default = &entry == catalogue().find(kDefaultModel);
  std::printf("%s%s\n", entry.name.c_str(), is_default ? " (default)" : "");
  std::printf("  %s\n", entry.about.c_str());
  std::printf("  %s, %s, %s\n", megabytes(entry.bytes).c_str(), entry.licence.c_str(),
              presence_name(presence_of(entry, folder)));
  std::printf("  %s\n", path_of(entry, folder).c_str());
}

Result<ExitStatus> list_models(bool verifies) {
  ADJ_TRY(const std::string folder, models_folder());
  ExitStatus worst = ExitStatus::success;
  for (const CatalogueEntry& entry : catalogue().entries) {
    const Presence presence = presence_of(entry, folder);
    if (verifies && presence >= Presence::unverified) {
      const Status status = verify(entry, folder);
      if (!status.ok()) worst = report(status.error());
    }
    print_entry(entry, folder);
  }
  return worst;
}

}  // namespace

void add_models_command(CLI::App& program, Run& chosen) {
  CLI::App* command = program.add_subcommand("models", "list known models and what is here");
  const auto verifies = std::make_shared<bool>(false);
  command->add_flag("--verify", *verifies, "take every SHA-256 again");
  run_when_chosen(*command, chosen, [verifies] { return list_models(*verifies); });
}

}  // namespace adjudge::app
