// oneDNN's products beside ours, where it is installed (Debian: libdnnl-dev).
#pragma once

#include <span>

namespace adjudge {

// Registers a benchmark for each arithmetic, width and number of rows. They run on one core, as
// ours do.
void add_onednn(std::span<const int> widths, std::span<const int> row_counts);

}  // namespace adjudge
