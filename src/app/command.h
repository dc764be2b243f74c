// What every command offers the program: it adds its subcommand and says what to run when that one
// was chosen. Nothing runs while arguments are still being parsed. A command is a file,
// src/app/command/<name>.cc, that defines add_<name>_command(); the list is generated.
#pragma once

#include <functional>

#include "adjudge/result.h"

namespace CLI {
class App;
}

namespace adjudge::app {

// What scripts can tell apart: usage errors count as bad requests.
enum class ExitStatus { success = 0, failure = 1, bad_request = 2, bad_model = 3 };

ExitStatus exit_status(ErrorKind kind);

// "adjudge: <what is wrong>" on standard error, and the status to leave with.
ExitStatus report(const Error& error);

// The chosen command, called once after parsing.
using Run = std::function<ExitStatus()>;

// Makes `run` the chosen one when `command` is; what it could not do is reported.
void run_when_chosen(CLI::App& command, Run& chosen, std::function<Result<ExitStatus>()> run);

#define ADJ_COMMAND(name) void add_##name##_command(CLI::App& program, Run& chosen);
#include "command_list.inc"
#undef ADJ_COMMAND

}  // namespace adjudge::app
