#include "gguf/cursor.h"

namespace adjudge::gguf {

Error Cursor::error(const std::string& message) const {
  return Error{ErrorKind::bad_model, place_.empty() ? message : place_ + ": " + message};
}

Result<std::span<const std::byte>> Cursor::take(std::uint64_t byte_count) {
  if (byte_count > left()) {
    return error("expected " + std::to_string(byte_count) + " bytes at offset " +
                 std::to_string(position_) + ", found " + std::to_string(left()) + " before " +
                 end_);
  }
  const auto taken = bytes_.subspan(position_, byte_count);
  position_ += byte_count;
  return taken;
}

Result<std::string_view> Cursor::text() {
  ADJ_TRY(const auto byte_count, number<std::uint64_t>());
  ADJ_TRY(const std::span<const std::byte> stored, take(byte_count));
  return std::string_view(reinterpret_cast<const char*>(stored.data()), stored.size());
}

Result<std::size_t> Cursor::count(std::string_view what, std::size_t bytes_each) {
  ADJ_TRY(const auto value, number<std::uint64_t>());
  if (value > left() / bytes_each) {
    return error("found a count of " + std::to_string(value) + " " + std::string(what) +
                 ", expected at most " + std::to_string(left() / bytes_each) + ", as " +
                 std::to_string(left()) + " bytes follow before " + end_);
  }
  return static_cast<std::size_t>(value);
}

}  // namespace adjudge::gguf
