// What every command file offers the program: it adds its subcommand and says what to run when
// that one was chosen. Nothing runs while arguments are still being parsed.
#pragma once

#include <functional>

#include "adjudge/result.h"

namespace CLI {
class App;
}

namespace adjudge::app {

// What scripts can tell apart: usage errors count as bad requests.
enum ExitStatus : int { success = 0, failure = 1, bad_request = 2, bad_model = 3 };

ExitStatus exit_status(ErrorKind kind);

// "adjudge: <what is wrong>" on standard error, and the status to leave with.
ExitStatus report(const Error& error);

// The chosen command, called once after parsing.
using Run = std::function<ExitStatus()>;

void add_models_command(CLI::App& program, Run& chosen);
void add_pull_command(CLI::App& program, Run& chosen);

}  // namespace adjudge::app
