#include "base/os/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace adjudge {

namespace {

Error cannot(const char* what, const std::string& path) {
  return Error{ErrorKind::bad_model, path + ": cannot " + what + ": " + std::strerror(errno)};
}

std::int64_t nanoseconds_of(const timespec& time) {
  return std::int64_t{1'000'000'000} * time.tv_sec + time.tv_nsec;
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  // Without O_NONBLOCK a named pipe would wait here for somebody who writes.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return cannot("open", path);
  MappedFile file;
  file.path_ = path;
  file.descriptor_ = descriptor;
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) return cannot("read", path);
  if (!S_ISREG(status.st_mode)) {
    const char* found = S_ISDIR(status.st_mode) ? "a directory" : "a pipe or device";
    return Error{ErrorKind::bad_model, path + ": found " + found + ", expected a file"};
  }
  file.written_ns_ = nanoseconds_of(status.st_mtim);
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return file;  // cannot be mapped and has nothing to map
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
  if (data == MAP_FAILED) return cannot("map", path);
  file.data_ = static_cast<const std::byte*>(data);
  file.size_ = size;
  file.watch_ = std::make_unique<const WatchedMapping>(data, size);
  return file;
}

bool MappedFile::intact() const {
  struct stat status{};
  return (!watch_ || !watch_->vanished()) && ::fstat(descriptor_, &status) == 0 &&
         static_cast<std::size_t>(status.st_size) == size_ &&
         nanoseconds_of(status.st_mtim) == written_ns_;
}

MappedFile::MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(written_ns_, other.written_ns_);
  std::swap(watch_, other.watch_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  watch_.reset();  // before its addresses can be another mapping's
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace adjudge
