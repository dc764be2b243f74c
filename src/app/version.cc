#include "app/version.h"

#include "kernel/table.h"

namespace adjudge::app {

std::string version_text() {
  const kernel::LevelNames levels = kernel::available_levels();
  std::string list;
  for (int i = 0; i < levels.count; ++i) list += (i > 0 ? " " : "") + std::string(levels.names[i]);
  return ADJ_VERSION " (" + list + ")";
}

}  // namespace adjudge::app
