#include "app/model_store.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "app/sha256.h"
#include "base/try.h"

namespace adjudge::app {

namespace {

namespace fs = std::filesystem;

std::string receipt_path(const CatalogueEntry& entry, const std::string& folder) {
  return path_of(entry, folder) + ".verified";
}

// What a receipt says: the checksum, and the size and time of the file it was taken of.
std::string receipt_text(const CatalogueEntry& entry, const fs::path& path) {
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  const auto changed = fs::last_write_time(path, error).time_since_epoch().count();
  return entry.sha256 + " " + std::to_string(bytes) + " " + std::to_string(changed) + "\n";
}

std::string content_of(const std::string& path) {
  std::ostringstream content;
  content << std::ifstream(path).rdbuf();
  return content.str();
}

}  // namespace

const char* presence_name(Presence presence) {
  switch (presence) {
    case Presence::absent:
      return "not here";
    case Presence::started:
      return "begun";
    case Presence::unverified:
      return "not verified";
    case Presence::verified:
      return "verified";
  }
  return "";
}

std::string path_of(const CatalogueEntry& entry, const std::string& folder) {
  return folder + "/" + entry.file;
}

std::string part_path_of(const CatalogueEntry& entry, const std::string& folder) {
  return path_of(entry, folder) + ".part";
}

Presence presence_of(const CatalogueEntry& entry, const std::string& folder) {
  const std::string path = path_of(entry, folder);
  std::error_code error;
  if (!fs::exists(path, error)) {
    const auto begun = fs::file_size(part_path_of(entry, folder), error);
    return !error && begun > 0 ? Presence::started : Presence::absent;
  }
  const bool checked = content_of(receipt_path(entry, folder)) == receipt_text(entry, path);
  return checked ? Presence::verified : Presence::unverified;
}

void leave_receipt(const CatalogueEntry& entry, const std::string& folder) {
  std::ofstream(receipt_path(entry, folder)) << receipt_text(entry, path_of(entry, folder));
}

Status verify(const CatalogueEntry& entry, const std::string& folder) {
  const std::string path = path_of(entry, folder);
  ADJ_TRY(const std::string found, sha256_of_file(path));
  if (found != entry.sha256) {
    return Error{ErrorKind::bad_model, path + ": SHA-256 is " + found + ", expected " +
                                           entry.sha256 + "; remove it and run `adjudge pull " +
                                           entry.name + "`"};
  }
  leave_receipt(entry, folder);
  return Done{};
}

}  // namespace adjudge::app
