// The program: finds the command that was asked for and leaves with its status.
#include <CLI/CLI.hpp>

#include "app/command.h"
#include "app/version.h"

int main(int argc, char** argv) {
  using namespace adjudge::app;
  CLI::App program{"adjudge: local decision models"};
  program.set_version_flag("--version", version_text());
  program.require_subcommand(1);
  Run chosen;
#define ADJ_COMMAND(name) add_##name##_command(program, chosen);
#include "command_list.inc"
#undef ADJ_COMMAND
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool asked_for_help = program.exit(error) == 0;
    return static_cast<int>(asked_for_help ? ExitStatus::success : ExitStatus::bad_request);
  }
  return static_cast<int>(chosen());
}
