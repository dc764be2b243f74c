#include "base/os/part_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace adjudge {

Error PartFile::cannot(const char* what) const {
  return Error{ErrorKind::unavailable, path_ + ": cannot " + what + ": " + std::strerror(errno)};
}

Result<PartFile> PartFile::open(const std::string& path, bool is_private) {
  PartFile file;
  file.path_ = path;
  // Whatever else somebody put there: a link is not followed, a pipe not waited for.
  const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  file.descriptor_ = ::open(path.c_str(), flags, is_private ? 0600 : 0644);
  if (file.descriptor_ < 0) return file.cannot("open");
  if (is_private && ::fchmod(file.descriptor_, 0600) != 0) return file.cannot("make private");
  if (::flock(file.descriptor_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return file.cannot("lock");
    return Error{ErrorKind::unavailable, path + ": another adjudge is writing it"};
  }
  struct stat ours{}, named{};
  if (::fstat(file.descriptor_, &ours) != 0 || ::stat(path.c_str(), &named) != 0 ||
      ours.st_ino != named.st_ino) {  // published between our open and our lock
    return Error{ErrorKind::unavailable, path + ": another adjudge has just finished it"};
  }
  const off_t end = ::lseek(file.descriptor_, 0, SEEK_END);
  if (end < 0) return file.cannot("measure");
  file.bytes_ = static_cast<std::size_t>(end);
  return file;
}

PartFile::PartFile(PartFile&& other) noexcept { *this = std::move(other); }

PartFile& PartFile::operator=(PartFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

PartFile::~PartFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status PartFile::append(std::span<const std::byte> data) {
  while (!data.empty()) {
    const ssize_t written = ::write(descriptor_, data.data(), data.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return cannot("write");
    bytes_ += static_cast<std::size_t>(written);
    data = data.subspan(static_cast<std::size_t>(written));
  }
  return Done{};
}

Status PartFile::cut(std::size_t bytes) {
  if (bytes >= bytes_) return Done{};
  if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) return cannot("shorten");
  bytes_ = bytes;
  return Done{};
}

Status PartFile::publish(const std::string& path) {
  if (::fsync(descriptor_) != 0) return cannot("write to disk");
  if (std::rename(path_.c_str(), path.c_str()) != 0) return cannot("rename");
  return Done{};
}

}  // namespace adjudge
