// Errors on the wire. The only place that knows HTTP's numbers for them.
#pragma once

#include <string>

#include "adjudge/result.h"
#include "protocol/dialect.h"

namespace adjudge {

// The type of the fault in an error about a model that is not here.
inline constexpr const char* kUnknownModelFault = "api_usage_error";

// Of a fault in how the body was packed.
inline constexpr const char* kMediaTypeFault = "unsupported_media_type_error";

// Nothing that depends on the request is a 5xx: clients send those again.
int status_of(const Error& error);
// invalid_request_error, rate_limit_error, ...
const char* error_type_of(const Error& error);

// One line with both members clients look for: `detail` (TypeSafe: a list of faults for 422, else
// an object) and `error` (llama-server and OpenAI).
std::string print_error(const Error& error);
SpelledError spell_error(const Error& error);  // both together

}  // namespace adjudge
