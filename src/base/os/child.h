// Runs another program and waits for it. No shell is involved: an argument is an argument.
#pragma once

#include <span>
#include <string>

#include "adjudge/result.h"

namespace adjudge {

// The program is looked up in PATH and shares our standard streams, its output going to our
// standard error. The value is its exit status (128 + signal when a signal ended it).
Result<int> run_child(std::span<const std::string> arguments);

}  // namespace adjudge
