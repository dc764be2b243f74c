// What one GGUF file says about itself before its tensor data begins: keys and the tensor table,
// every count, size and offset checked against the file. Knows nothing of split models or models.
// Specification: ggml's documentation of GGUF; gguf.cpp of llama.cpp for what is accepted in
// practice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "adjudge/result.h"
#include "gguf/metadata.h"

namespace adjudge::gguf {

struct TensorEntry {
  std::string_view name;
  std::uint32_t type = 0;           // may be a type we cannot read
  std::vector<std::int64_t> shape;  // one to four dimensions, none below 1
  // Within the file; empty when the type is foreign, as its size is unknown.
  std::span<const std::byte> bytes;
};

struct Header {
  Metadata metadata;
  std::vector<TensorEntry> tensors;
  std::size_t bytes = 0;  // up to the end of the tensor table
};

// `file` is a whole file. Errors name the key or tensor, not the file.
Result<Header> parse_header(std::span<const std::byte> file);

}  // namespace adjudge::gguf
