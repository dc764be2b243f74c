// Names of the parts of a split model: NAME-00001-of-00003.gguf.
#pragma once

#include <optional>
#include <string>

namespace adjudge::gguf {

// How the name of part `part` (counted from 1) ends: "-00001-of-00003.gguf".
std::string part_suffix(int part, int part_count);

// The path of part `part` beside `path`, which names any part of `part_count`;
// nothing when `path` does not end as the name of such a part does.
std::optional<std::string> part_path(const std::string& path, int part, int part_count);

}  // namespace adjudge::gguf
