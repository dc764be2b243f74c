// Names out of a file, made safe for a message.
#pragma once

#include <string>
#include <string_view>

namespace adjudge::gguf {

// In double quotes, without what is not printable ASCII (\xE2) and cut when long: a damaged file
// may hold anything where a name should be.
std::string quoted(std::string_view text);

}  // namespace adjudge::gguf
