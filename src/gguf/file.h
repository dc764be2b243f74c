// A GGUF model: one mapped file, or several that together are one (NAME-00001-of-00003.gguf). Every
// offset, size, type and count is checked when it is opened; afterwards tensors are plain bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "adjudge/result.h"
#include "base/os/mapped_file.h"
#include "gguf/dtype.h"
#include "gguf/metadata.h"

namespace adjudge::gguf {

struct Tensor {
  std::string name;
  DType type = DType::f32;
  std::vector<std::int64_t> shape;   // innermost first: {in, out} for a matrix of `out` rows
  std::span<const std::byte> bytes;  // in the mapped file
  std::int64_t value_count() const;
};

class File {
 public:
  // Opens `path`, and the other parts when it is the first of a split model. Unknown tensor types
  // are kept as errors until somebody asks for the tensor.
  static Result<std::unique_ptr<File>> open(const std::string& path);

  const std::string& path() const { return path_; }
  const Metadata& metadata() const { return metadata_; }
  std::string_view architecture() const { return architecture_; }  // general.architecture
  std::size_t bytes() const;                                       // of all parts
  bool intact() const;  // whether every part is as it was when opened (base/os/mapped_file.h)

  std::string written_at() const;  // when every part was, as digits: to tell files apart

  bool has(std::string_view name) const;
  // The tensor, or an error that names it. `shape` (innermost first) must match where given; ones
  // at its end do not count.
  Result<const Tensor*> tensor(std::string_view name) const;
  Result<const Tensor*> tensor(std::string_view name,
                               std::initializer_list<std::int64_t> shape) const;
  const std::vector<Tensor>& tensors() const { return tensors_; }

  // XXH3-128 of header, size and sampled pages of every part and of the sidecar, as 32 hex digits:
  // cheap, and different whenever a file was replaced. A change of a few weights between the
  // sampled pages goes unseen; the full SHA-256 is another matter (app/sha256).
  std::string fingerprint() const;

 private:
  File() = default;
  friend class Reader;
  const std::uint32_t* find_foreign(std::string_view name) const;  // its type code
  std::string path_;
  std::string architecture_;
  std::vector<MappedFile> parts_;
  std::vector<std::size_t> header_bytes_;  // per part
  Metadata metadata_;
  std::vector<Tensor> tensors_;
  std::vector<std::pair<std::string, std::uint32_t>>
      foreign_tensors_;  // name, type code we cannot read
  std::unordered_map<std::string, std::size_t> index_;
};

// Where the sidecar of a model lies, if it has one: NAME.adjudge.json beside NAME.gguf.
std::string sidecar_path(const std::string& model_path);

}  // namespace adjudge::gguf
