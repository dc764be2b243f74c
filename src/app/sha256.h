// The SHA-256 of a file, which proves that a download is what it should be.
#pragma once

#include <string>

#include "adjudge/result.h"

namespace adjudge::app {

// 64 small hex digits.
Result<std::string> sha256_of_file(const std::string& path);

}  // namespace adjudge::app
