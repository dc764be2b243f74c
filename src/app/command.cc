#include "app/command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <utility>

namespace adjudge::app {

ExitStatus exit_status(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::bad_request:
    case ErrorKind::too_large:
    case ErrorKind::not_supported:
      return ExitStatus::bad_request;
    case ErrorKind::bad_model:
      return ExitStatus::bad_model;
    case ErrorKind::overloaded:
    case ErrorKind::deadline:
    case ErrorKind::cancelled:
    case ErrorKind::unavailable:
    case ErrorKind::internal:
      return ExitStatus::failure;
  }
  return ExitStatus::failure;
}

ExitStatus report(const Error& error) {
  std::fprintf(stderr, "adjudge: %s\n", error.message().c_str());
  return exit_status(error.kind);
}

void run_when_chosen(CLI::App& command, Run& chosen, std::function<Result<ExitStatus>()> run) {
  command.callback([&chosen, run = std::move(run)] {
    chosen = [run] {
      const Result<ExitStatus> status = run();
      return status.ok() ? status.value() : report(status.error());
    };
  });
}

}  // namespace adjudge::app
