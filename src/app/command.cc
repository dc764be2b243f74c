#include "app/command.h"

#include <cstdio>

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

}  // namespace adjudge::app
