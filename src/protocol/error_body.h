// Errors on the wire. The only place that knows HTTP's numbers for them.
#pragma once

#include <string>

#include "adjudge/result.h"

namespace adjudge {

// Nothing that depends on the request is a 5xx: clients send those again.
int status_of(ErrorKind kind);

// One line with both members clients look for: `detail` (TypeSafe: a list of faults for 422, else
// an object) and `error` (llama-server and OpenAI).
std::string print_error(const Error& error);

}  // namespace adjudge
