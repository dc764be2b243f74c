// A place in the header of a GGUF file that cannot leave it: whatever is read is first known to be
// there. Knows numbers and strings, not what they mean. Little-endian, as GGUF is.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "adjudge/result.h"
#include "base/try.h"

namespace adjudge::gguf {

static_assert(std::endian::native == std::endian::little, "GGUF is read as it lies in memory");

class Cursor {
 public:
  // `end` says in messages what lies where `bytes` end.
  Cursor(std::span<const std::byte> bytes, std::string end) : bytes_(bytes), end_(std::move(end)) {}

  // Names what is read from here on, for messages: `key "general.name"`.
  void enter(std::string place) { place_ = std::move(place); }
  // An error about the named place.
  Error error(const std::string& message) const;

  std::size_t position() const { return position_; }
  std::size_t left() const { return bytes_.size() - position_; }

  Result<std::span<const std::byte>> take(std::uint64_t byte_count);
  template <class T>
  Result<T> number() {
    ADJ_TRY(const std::span<const std::byte> stored, take(sizeof(T)));
    T value;
    std::memcpy(&value, stored.data(), sizeof(T));
    return value;
  }
  // A length and as many bytes.
  Result<std::string_view> text();
  // A number of things that take at least `bytes_each` bytes; more than can follow is an error.
  Result<std::size_t> count(std::string_view what, std::size_t bytes_each);

 private:
  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
  std::string end_;
  std::string place_;
};

}  // namespace adjudge::gguf
