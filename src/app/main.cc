// The program: finds the command that was asked for and leaves with its status.
#include <CLI/CLI.hpp>

#include "app/command.h"

int main(int argc, char** argv) {
  using namespace adjudge::app;
  CLI::App program{"adjudge: local decision models"};
  program.require_subcommand(1);
  Run chosen;
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? success : bad_request;
  }
  return chosen();
}
