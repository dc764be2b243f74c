// The environment, which only app/ reads.
#pragma once

#include <optional>
#include <string>

namespace adjudge::app {

// Unset and empty are the same.
std::optional<std::string> environment(const char* name);

}  // namespace adjudge::app
