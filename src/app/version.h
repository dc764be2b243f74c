// Which program this is.
#pragma once

#include <string>

namespace adjudge::app {

// "0.1.0 (scalar avx2 avx512)": the version, and the instruction sets this machine can run. .ci/run
// reads it.
std::string version_text();

}  // namespace adjudge::app
