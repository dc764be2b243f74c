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

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  // Without O_NONBLOCK a named pipe would wait here for somebody who writes.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return cannot("open", path);
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) {
    Error error = cannot("read", path);
    ::close(descriptor);
    return error;
  }
  if (!S_ISREG(status.st_mode)) {
    ::close(descriptor);
    const char* found = S_ISDIR(status.st_mode) ? "a directory" : "a pipe or device";
    return Error{ErrorKind::bad_model, path + ": found " + found + ", expected a file"};
  }
  MappedFile file;
  file.path_ = path;
  file.size_ = static_cast<std::size_t>(status.st_size);
  if (file.size_ > 0) {  // an empty file cannot be mapped and has nothing to map
    void* data = ::mmap(nullptr, file.size_, PROT_READ, MAP_SHARED, descriptor, 0);
    if (data == MAP_FAILED) {
      Error error = cannot("map", path);
      ::close(descriptor);
      file.size_ = 0;
      return error;
    }
    file.data_ = static_cast<const std::byte*>(data);
  }
  ::close(descriptor);
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace adjudge
