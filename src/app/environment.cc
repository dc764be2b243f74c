#include "app/environment.h"

#include <cstdlib>

namespace adjudge::app {

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

}  // namespace adjudge::app
