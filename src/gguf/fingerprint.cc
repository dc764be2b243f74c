// The fingerprint of a model. Per part: its size, its header (everything up to the end of the
// tensor table) and kPages pages spread evenly from the first byte to the last; then the sidecar,
// if there is one. Every piece is preceded by its length, so that no two lists of pieces hash
// alike.
#include <xxhash.h>

#include <algorithm>
#include <memory>

#include "base/check.h"
#include "gguf/file.h"

namespace adjudge::gguf {

namespace {

constexpr std::size_t kPages = 64;
constexpr std::size_t kPageBytes = 4096;

class Hash {
 public:
  Hash() : state_(XXH3_createState()) {
    CHECK(state_ != nullptr);
    XXH3_128bits_reset(state_.get());
  }

  void add_number(std::uint64_t number) { XXH3_128bits_update(state_.get(), &number, 8); }
  void add(std::span<const std::byte> bytes) {
    add_number(bytes.size());
    XXH3_128bits_update(state_.get(), bytes.data(), bytes.size());
  }

  std::string hex() const {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state_.get()));
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (const unsigned char byte : canonical.digest) {
      text += {kDigits[byte >> 4], kDigits[byte & 15]};
    }
    return text;
  }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_;
};

void add_sampled_pages(Hash& hash, std::span<const std::byte> bytes) {
  if (bytes.size() <= kPages * kPageBytes) return hash.add(bytes);
  const std::size_t last = bytes.size() - kPageBytes;
  for (std::size_t page = 0; page < kPages; ++page) {
    hash.add(bytes.subspan(last * page / (kPages - 1), kPageBytes));
  }
}

}  // namespace

std::string File::fingerprint() const {
  Hash hash;
  hash.add_number(parts_.size());
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const std::span<const std::byte> bytes = parts_[i].bytes();
    hash.add_number(bytes.size());
    hash.add(bytes.first(header_bytes_[i]));
    add_sampled_pages(hash, bytes);
  }
  const auto sidecar = MappedFile::open(sidecar_path(path_));
  if (sidecar.ok()) hash.add(sidecar.value().bytes());
  return hash.hex();
}

}  // namespace adjudge::gguf
