// Writes GGUF files for cases that no real file shows:
//   GgufWriter("qwen3").integer("qwen3.block_count", 2).tensor("x", DType::f32, {2},
//   bytes).write(p)
// It checks nothing, so that damaged files can be written too.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/dtype.h"

namespace adjudge::testing {

// Codes of metadata types.
enum class MetaType : std::uint32_t {
  u8 = 0,
  i8 = 1,
  u16 = 2,
  i16 = 3,
  u32 = 4,
  i32 = 5,
  f32 = 6,
  boolean = 7,
  string = 8,
  array = 9,
  u64 = 10,
  i64 = 11,
  f64 = 12,
};

class GgufWriter {
 public:
  using Shape = std::vector<std::int64_t>;  // innermost first

  // A file whose general.architecture is this; without one there is no such key.
  explicit GgufWriter(std::string_view architecture);
  GgufWriter() = default;

  GgufWriter& integer(std::string_view key, std::int64_t value, MetaType type = MetaType::u32);
  GgufWriter& real(std::string_view key, double value, MetaType type = MetaType::f32);
  GgufWriter& boolean(std::string_view key, bool value);
  GgufWriter& text(std::string_view key, std::string_view value);
  GgufWriter& integers(std::string_view key, const std::vector<std::int64_t>& values,
                       MetaType type = MetaType::i32);
  GgufWriter& reals(std::string_view key, const std::vector<double>& values,
                    MetaType type = MetaType::f32);
  GgufWriter& booleans(std::string_view key, const std::vector<bool>& values);
  GgufWriter& texts(std::string_view key, const std::vector<std::string>& values);
  // A key with a value of any bytes.
  GgufWriter& raw(std::string_view key, std::uint32_t type, std::string_view bytes);

  GgufWriter& tensor(std::string_view name, gguf::DType type, Shape shape, std::string_view bytes);
  // The same from floats.
  GgufWriter& tensor(std::string_view name, Shape shape, std::span<const float> values);
  // The same with any type code and, if not negative, at a given offset.
  GgufWriter& raw_tensor(std::string_view name, std::uint32_t type, Shape shape,
                         std::string_view bytes, std::int64_t offset = -1);

  GgufWriter& version(std::uint32_t version);
  // Adds the key too; to be called before the first tensor.
  GgufWriter& alignment(std::uint32_t alignment);

  // The file's bytes.
  std::string bytes() const;
  void write(const std::string& path) const;

 private:
  GgufWriter& entry(std::string_view key, MetaType type, std::string_view value);
  GgufWriter& array(std::string_view key, MetaType type, std::size_t count,
                    std::string_view values);

  std::uint32_t version_ = 3;
  std::uint64_t alignment_ = 32;
  std::uint64_t key_count_ = 0;
  std::uint64_t tensor_count_ = 0;
  std::string keys_;
  std::string table_;
  std::string data_;
};

}  // namespace adjudge::testing
