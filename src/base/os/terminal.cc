#include "base/os/terminal.h"

#include <unistd.h>

namespace adjudge {

bool stderr_is_terminal() { return ::isatty(STDERR_FILENO) == 1; }

}  // namespace adjudge
