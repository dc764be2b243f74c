// Which build this code is of: what was computed by one build is not the bits of another.
#pragma once

#include <string>

namespace adjudge {

// Hex digits of the linker's identifier of the program or library this code lies in; empty when it
// was linked without one.
std::string build_id();

}  // namespace adjudge
