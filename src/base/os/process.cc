#include "base/os/process.h"

#include <unistd.h>

namespace adjudge {

int process_id() { return static_cast<int>(::getpid()); }

}  // namespace adjudge
