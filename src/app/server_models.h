// The models a server offers, from files, names of pulled models and folders.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/options.h"
#include "serve/model_shelf.h"

namespace adjudge::app {

struct ServedModelOptions {
  // Those that are to be there at once and always: by name, or as they were given.
  std::vector<std::string> pinned;
  ModelOptions model;
  CompileOptions compile;
  std::string snapshot_folder;  // where what is kept over requests outlives the process; or empty
  std::function<void(const std::string& what)> report;  // what could not be read or written there
};

// In the order given, a folder's files by name. Reads what needs no weights; two of one name are
// refused, and so is a pinned name that no entry has. The process's runtime must be configured
// before an entry is loaded.
Result<std::vector<serve::ShelfEntry>> shelf_entries(const std::vector<std::string>& models,
                                                     const ServedModelOptions& options);

}  // namespace adjudge::app
