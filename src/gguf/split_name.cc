#include "gguf/split_name.h"

#include <algorithm>
#include <cstdio>

namespace adjudge::gguf {

std::string part_suffix(int part, int part_count) {
  char text[48];
  std::snprintf(text, sizeof(text), "-%05d-of-%05d.gguf", part, part_count);
  return text;
}

std::optional<std::string> part_path(const std::string& path, int part, int part_count) {
  const std::string pattern = part_suffix(0, part_count);
  if (path.size() <= pattern.size()) return std::nullopt;
  // Everything but the five digits of the part must be as in the pattern.
  std::string end = path.substr(path.size() - pattern.size());
  const auto digits = end.begin() + 1;
  if (!std::all_of(digits, digits + 5, [](char c) { return c >= '0' && c <= '9'; })) {
    return std::nullopt;
  }
  std::fill(digits, digits + 5, '0');
  if (end != pattern) return std::nullopt;
  return path.substr(0, path.size() - pattern.size()) + part_suffix(part, part_count);
}

}  // namespace adjudge::gguf
