// A file that grows at its end and belongs to one process at a time: what a download writes until
// it is whole. What was appended stays when the process dies.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "adjudge/result.h"

namespace adjudge {

class PartFile {
 public:
  // Creates the file, or continues the one that is there. Refused while another process has it.
  // `is_private`: for the owner's eyes alone.
  static Result<PartFile> open(const std::string& path, bool is_private = false);
  PartFile(PartFile&& other) noexcept;
  PartFile& operator=(PartFile&& other) noexcept;
  ~PartFile();

  const std::string& path() const { return path_; }
  std::size_t bytes() const { return bytes_; }

  Status append(std::span<const std::byte> data);
  // Forgets everything from `bytes` on.
  Status cut(std::size_t bytes);
  // Takes the name `path` once every byte is on the disk; the object is then of no more use.
  Status publish(const std::string& path);

 private:
  PartFile() = default;
  Error cannot(const char* what) const;

  std::string path_;
  int descriptor_ = -1;
  std::size_t bytes_ = 0;
};

}  // namespace adjudge
