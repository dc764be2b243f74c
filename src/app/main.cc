// The program: finds the command that was asked for and leaves with its status.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>

#include "app/command.h"
#include "app/version.h"
#include "base/os/heap.h"
#include "base/os/standard_streams.h"
#include "base/os/termination.h"

namespace {

using namespace adjudge::app;

// An answer that did not reach its reader is no success.
ExitStatus written(ExitStatus status) {
  std::cout.flush();
  const bool whole = std::fflush(stdout) == 0 && std::cout.good() && std::ferror(stdout) == 0;
  if (whole) return status;
  const ExitStatus failed =
      report({adjudge::ErrorKind::unavailable, "cannot write to standard output"});
  return status == ExitStatus::success ? failed : status;
}

}  // namespace

int main(int argc, char** argv) {
  adjudge::occupy_standard_descriptors();
  adjudge::outlive_full_files();
  adjudge::keep_freed_memory();
  std::ios::sync_with_stdio(false);  // lets `decide` see how many lines of its input are at hand
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
  return static_cast<int>(written(chosen()));
}
