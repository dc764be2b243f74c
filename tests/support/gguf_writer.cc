#include "support/gguf_writer.h"

#include <cstdlib>
#include <cstring>

#include "support/support.h"

namespace adjudge::testing {

namespace {

template <class T>
std::string stored(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

std::string stored_text(std::string_view text) {
  return stored<std::uint64_t>(text.size()) + std::string(text);
}

std::string stored_integer(std::int64_t value, MetaType type) {
  switch (type) {
    case MetaType::u8:
    case MetaType::i8:
      return stored(static_cast<std::int8_t>(value));
    case MetaType::u16:
    case MetaType::i16:
      return stored(static_cast<std::int16_t>(value));
    case MetaType::u32:
    case MetaType::i32:
      return stored(static_cast<std::int32_t>(value));
    case MetaType::u64:
    case MetaType::i64:
      return stored(value);
    default:
      std::abort();
  }
}

std::string stored_real(double value, MetaType type) {
  return type == MetaType::f64 ? stored(value) : stored(static_cast<float>(value));
}

void pad(std::string& bytes, std::uint64_t alignment) {
  if (alignment == 0) return;
  bytes.resize((bytes.size() + alignment - 1) / alignment * alignment, '\0');
}

}  // namespace

GgufWriter::GgufWriter(std::string_view architecture) {
  text("general.architecture", architecture);
}

GgufWriter& GgufWriter::integer(std::string_view key, std::int64_t value, MetaType type) {
  return entry(key, type, stored_integer(value, type));
}

GgufWriter& GgufWriter::real(std::string_view key, double value, MetaType type) {
  return entry(key, type, stored_real(value, type));
}

GgufWriter& GgufWriter::boolean(std::string_view key, bool value) {
  return entry(key, MetaType::boolean, stored(value));
}

GgufWriter& GgufWriter::text(std::string_view key, std::string_view value) {
  return entry(key, MetaType::string, stored_text(value));
}

GgufWriter& GgufWriter::integers(std::string_view key, const std::vector<std::int64_t>& values,
                                 MetaType type) {
  std::string bytes;
  for (const std::int64_t value : values) bytes += stored_integer(value, type);
  return array(key, type, values.size(), bytes);
}

GgufWriter& GgufWriter::reals(std::string_view key, const std::vector<double>& values,
                              MetaType type) {
  std::string bytes;
  for (const double value : values) bytes += stored_real(value, type);
  return array(key, type, values.size(), bytes);
}

GgufWriter& GgufWriter::booleans(std::string_view key, const std::vector<bool>& values) {
  std::string bytes;
  for (const bool value : values) bytes += stored(value);
  return array(key, MetaType::boolean, values.size(), bytes);
}

GgufWriter& GgufWriter::texts(std::string_view key, const std::vector<std::string>& values) {
  std::string bytes;
  for (const std::string& value : values) bytes += stored_text(value);
  return array(key, MetaType::string, values.size(), bytes);
}

GgufWriter& GgufWriter::raw(std::string_view key, std::uint32_t type, std::string_view bytes) {
  return entry(key, static_cast<MetaType>(type), bytes);
}

GgufWriter& GgufWriter::tensor(std::string_view name, gguf::DType type, Shape shape,
                               std::string_view bytes) {
  return raw_tensor(name, static_cast<std::uint32_t>(type), std::move(shape), bytes);
}

GgufWriter& GgufWriter::tensor(std::string_view name, Shape shape, std::span<const float> values) {
  const std::string_view bytes(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  return tensor(name, gguf::DType::f32, std::move(shape), bytes);
}

GgufWriter& GgufWriter::raw_tensor(std::string_view name, std::uint32_t type, Shape shape,
                                   std::string_view bytes, std::int64_t offset) {
  pad(data_, alignment_);
  table_ += stored_text(name) + stored(static_cast<std::uint32_t>(shape.size()));
  for (const std::int64_t extent : shape) table_ += stored(extent);
  table_ += stored(type);
  table_ += stored(offset < 0 ? static_cast<std::int64_t>(data_.size()) : offset);
  data_ += bytes;
  ++tensor_count_;
  return *this;
}

GgufWriter& GgufWriter::version(std::uint32_t version) {
  version_ = version;
  return *this;
}

GgufWriter& GgufWriter::alignment(std::uint32_t alignment) {
  alignment_ = alignment;
  return integer("general.alignment", alignment);
}

std::string GgufWriter::bytes() const {
  std::string file = "GGUF" + stored(version_) + stored(tensor_count_) + stored(key_count_);
  file += keys_ + table_;
  if (tensor_count_ > 0) pad(file, alignment_);
  return file + data_;
}

void GgufWriter::write(const std::string& path) const { write_file(path, bytes()); }

GgufWriter& GgufWriter::entry(std::string_view key, MetaType type, std::string_view value) {
  keys_ += stored_text(key) + stored(static_cast<std::uint32_t>(type));
  keys_ += value;
  ++key_count_;
  return *this;
}

GgufWriter& GgufWriter::array(std::string_view key, MetaType type, std::size_t count,
                              std::string_view values) {
  const std::string head =
      stored(static_cast<std::uint32_t>(type)) + stored(static_cast<std::uint64_t>(count));
  return entry(key, MetaType::array, head + std::string(values));
}

}  // namespace adjudge::testing
