// Any bytes as a GGUF file: opened, every key and tensor walked, blocks decoded, fingerprint taken.
// The seeds were written with tests/support/gguf_writer.h: every type of key, every weight format,
// version 2.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "gguf/file.h"

namespace {

using adjudge::gguf::DTypeTraits;
using adjudge::gguf::File;
using adjudge::gguf::Metadata;
using adjudge::gguf::Tensor;

// Asks for a key as every type there is; each answer is a value or an error with a message.
void ask_for(const Metadata& metadata, const std::string& key) {
  const auto message_of = [](const auto& result) {
    if (!result.ok() && result.error().message().empty()) std::abort();
  };
  message_of(metadata.find_integer(key));
  message_of(metadata.find_real(key));
  message_of(metadata.find_boolean(key));
  message_of(metadata.find_string(key));
  message_of(metadata.integer(key, 0, 100));
  message_of(metadata.strings(key));
  message_of(metadata.integers(key));
  message_of(metadata.booleans(key));
}

void decode_ends(const Tensor& tensor) {
  const DTypeTraits& traits = traits_of(tensor.type);
  const auto block_bytes = static_cast<std::size_t>(traits.block_bytes);
  float values[256];
  traits.decode(tensor.bytes.data(), 1, values);
  traits.decode(tensor.bytes.last(block_bytes).data(), 1, values);
}

void walk(const File& file) {
  for (const auto& [key, value] : file.metadata().entries()) ask_for(file.metadata(), key);
  for (const Tensor& tensor : file.tensors()) {
    const auto found = file.tensor(tensor.name);
    if (!found.ok() || found.value() != &tensor || tensor.value_count() < 1) std::abort();
    decode_ends(tensor);
  }
  if (file.fingerprint().size() != 32) std::abort();
}

// A file in memory, as the reader maps what a path names.
class MemoryFile {
 public:
  MemoryFile(const std::uint8_t* data, std::size_t size) : descriptor_(memfd_create("fuzz", 0)) {
    if (descriptor_ < 0) std::abort();
    if (write(descriptor_, data, size) != static_cast<ssize_t>(size)) std::abort();
  }
  ~MemoryFile() { close(descriptor_); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFile memory(data, size);
  const auto file = File::open(memory.path());
  if (file.ok()) walk(*file.value());
  return 0;
}
