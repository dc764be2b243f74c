// The models we know by name: what they are, what their bytes must be, where they are kept and
// where they can be had. The list is data/catalogue.json, compiled in.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "adjudge/result.h"

namespace adjudge::app {

// A file at a model hub; HF_ENDPOINT names another hub than the usual one, as its own tools do.
struct HubSource {
  std::string repository;
  std::string file;
};

struct UrlSource {
  std::string url;
};

// A file cut into equal parts (the last may be shorter), one in each of several Python packages.
struct PackageSource {
  std::string package;  // {N}: the part's number from 1, {NN}: with two digits
  std::string version;
  std::string member;  // of the wheel, with the same marks
  int part_count = 0;
  std::size_t part_bytes = 0;
};

using Source = std::variant<HubSource, UrlSource, PackageSource>;

struct CatalogueEntry {
  std::string name;
  std::string about;
  std::string licence;
  std::string file;  // its name in the models folder
  std::size_t bytes = 0;
  std::string sha256;
  std::vector<Source> sources;  // tried in order
};

inline constexpr const char* kDefaultModel = "default";

struct Catalogue {
  std::string default_name;
  std::vector<CatalogueEntry> entries;

  // By name; kDefaultModel is the default entry. Null when there is none.
  const CatalogueEntry* find(std::string_view name) const;
};

Result<Catalogue> parse_catalogue(std::string_view text);

// The one compiled in.
const Catalogue& catalogue();

// $ADJUDGE_MODELS, else adjudge/models in $XDG_CACHE_HOME, else in ~/.cache.
Result<std::string> models_folder();

// What --model takes: a path, or a catalogue name whose file must be in the models folder. A
// catalogue name wins over a file of that name here; "./name" is always a path.
Result<std::string> resolve_model(const std::string& name_or_path);

}  // namespace adjudge::app
