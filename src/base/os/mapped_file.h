// A file mapped read-only. Moving the object does not move the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "adjudge/result.h"
#include "base/os/vanished_page.h"

namespace adjudge {

class MappedFile {
 public:
  static Result<MappedFile> open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }
  // When it was last written to before it was opened, in nanoseconds since 1970.
  std::int64_t written_ns() const { return written_ns_; }
  // Whether the bytes are still those that were opened: a file that is cut off or written to
  // changes under our hands, and nothing that was computed meanwhile is right. Cheap. A file that
  // was replaced by another of its name, or removed, is still there for us.
  bool intact() const;

 private:
  MappedFile() = default;
  std::string path_;
  int descriptor_ = -1;
  std::int64_t written_ns_ = 0;  // when it was opened
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::unique_ptr<const WatchedMapping> watch_;
};

}  // namespace adjudge
