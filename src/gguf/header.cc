#include "gguf/header.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <type_traits>
#include <unordered_set>
#include <utility>

#include "gguf/cursor.h"
#include "gguf/dtype.h"
#include "gguf/quoted.h"

namespace adjudge::gguf {

namespace {

constexpr std::uint64_t kIntegerMax = std::numeric_limits<std::int64_t>::max();
constexpr std::uint32_t kDimensionsMax = 4;
// The least a table entry can take: an empty name, then type and value of a key, or dimension
// count, one dimension, type and offset of a tensor.
constexpr std::size_t kKeyBytesMin = 8 + 4 + 1;
constexpr std::size_t kTensorBytesMin = 8 + 4 + 8 + 4 + 8;

// Vocabularies make headers of up to 30 MB. The limit keeps the memory that a damaged count can ask
// for below ten times as much.
constexpr std::size_t kHeaderBytesMax = std::size_t{128} << 20;

// How metadata keeps a stored type: every integer as int64, every float as double.
template <class T>
using Kept = std::conditional_t<
    std::is_floating_point_v<T>, double,
    std::conditional_t<std::is_same_v<T, bool> || std::is_same_v<T, std::string_view>, T,
                       std::int64_t>>;

template <class T>
Result<Kept<T>> read_one(Cursor& cursor) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    return cursor.text();
  } else if constexpr (std::is_same_v<T, bool>) {
    ADJ_TRY(const auto value, cursor.number<std::uint8_t>());
    if (value > 1) {
      return cursor.error("found a boolean of " + std::to_string(value) + ", expected 0 or 1");
    }
    return value == 1;
  } else {
    ADJ_TRY(const T value, cursor.number<T>());
    if constexpr (std::is_same_v<T, std::uint64_t>) {
      if (value > kIntegerMax) {
        return cursor.error("found " + std::to_string(value) + ", expected integers below 2^63");
      }
    }
    return static_cast<Kept<T>>(value);
  }
}

template <class T>
Result<MetaValue> read_scalar(Cursor& cursor) {
  ADJ_TRY(const Kept<T> value, read_one<T>(cursor));
  return MetaValue(value);
}

// Alone, an integer may be too large for int64; in an array it may not.
Result<MetaValue> read_large(Cursor& cursor) {
  ADJ_TRY(const auto value, cursor.number<std::uint64_t>());
  return value > kIntegerMax ? MetaValue(value) : MetaValue(static_cast<std::int64_t>(value));
}

template <class T>
Result<MetaValue> read_array(Cursor& cursor) {
  constexpr std::size_t kBytesMin = std::is_same_v<T, std::string_view> ? 8 : sizeof(T);
  ADJ_TRY(const std::size_t count, cursor.count("array elements", kBytesMin));
  std::vector<Kept<T>> values;
  values.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    ADJ_TRY(const Kept<T> value, read_one<T>(cursor));
    values.push_back(value);
  }
  return MetaValue(std::move(values));
}

struct ValueType {
  Result<MetaValue> (*scalar)(Cursor&);
  Result<MetaValue> (*array)(Cursor&);
};

constexpr std::uint32_t kArray = 9;

// By code: enum gguf_metadata_value_type of the specification.
constexpr ValueType kValueTypes[] = {
    {read_scalar<std::uint8_t>, read_array<std::uint8_t>},
    {read_scalar<std::int8_t>, read_array<std::int8_t>},
    {read_scalar<std::uint16_t>, read_array<std::uint16_t>},
    {read_scalar<std::int16_t>, read_array<std::int16_t>},
    {read_scalar<std::uint32_t>, read_array<std::uint32_t>},
    {read_scalar<std::int32_t>, read_array<std::int32_t>},
    {read_scalar<float>, read_array<float>},
    {read_scalar<bool>, read_array<bool>},
    {read_scalar<std::string_view>, read_array<std::string_view>},
    {nullptr, nullptr},  // kArray
    {read_large, read_array<std::uint64_t>},
    {read_scalar<std::int64_t>, read_array<std::int64_t>},
    {read_scalar<double>, read_array<double>},
};

Result<MetaValue> read_value(Cursor& cursor) {
  ADJ_TRY(const auto type, cursor.number<std::uint32_t>());
  if (type >= std::size(kValueTypes)) {
    return cursor.error("found value type " + std::to_string(type) + ", expected 0 to " +
                        std::to_string(std::size(kValueTypes) - 1));
  }
  if (type != kArray) return kValueTypes[type].scalar(cursor);
  ADJ_TRY(const auto element_type, cursor.number<std::uint32_t>());
  if (element_type >= std::size(kValueTypes) || element_type == kArray) {
    return cursor.error("found an array of value type " + std::to_string(element_type) +
                        ", expected numbers, booleans or strings");
  }
  return kValueTypes[element_type].array(cursor);
}

// The first bytes of a file, checked; leaves the cursor behind the version.
Status read_preamble(Cursor& cursor) {
  if (cursor.left() == 0) return cursor.error("the file is empty, expected a GGUF model");
  ADJ_TRY(const auto magic, cursor.take(std::min<std::size_t>(4, cursor.left())));
  const std::string_view found(reinterpret_cast<const char*>(magic.data()), magic.size());
  if (found != "GGUF") {
    return cursor.error("not a GGUF file: it begins with " + quoted(found) + ", expected \"GGUF\"");
  }
  cursor.enter("version");
  ADJ_TRY(const auto version, cursor.number<std::uint32_t>());
  if (version != 0 && (version & 0xffff) == 0) {
    return cursor.error("the file is big-endian, expected little-endian: convert it again");
  }
  if (version < 2 || version > 3) {
    return cursor.error("found GGUF version " + std::to_string(version) + ", expected 2 or 3");
  }
  return Done{};
}

Result<Metadata> read_metadata(Cursor& cursor, std::size_t key_count) {
  Metadata metadata;
  for (std::size_t i = 0; i < key_count; ++i) {
    cursor.enter("key " + std::to_string(i + 1) + " of " + std::to_string(key_count));
    ADJ_TRY(const std::string_view key, cursor.text());
    if (key.empty()) return cursor.error("found an empty name");
    cursor.enter("key " + quoted(key));
    if (metadata.has(key)) return cursor.error("found twice");
    ADJ_TRY(MetaValue value, read_value(cursor));
    metadata.add(key, std::move(value));
  }
  return metadata;
}

// An entry of the tensor table as it is stored.
struct StoredTensor {
  TensorEntry entry;
  std::uint64_t offset = 0;  // from the beginning of the data
};

Result<std::vector<std::int64_t>> read_shape(Cursor& cursor) {
  ADJ_TRY(const auto dimension_count, cursor.number<std::uint32_t>());
  if (dimension_count < 1 || dimension_count > kDimensionsMax) {
    return cursor.error("found " + std::to_string(dimension_count) + " dimensions, expected 1 to " +
                        std::to_string(kDimensionsMax));
  }
  std::vector<std::int64_t> shape;
  std::int64_t value_count = 1;
  for (std::uint32_t i = 0; i < dimension_count; ++i) {
    ADJ_TRY(const auto extent, cursor.number<std::int64_t>());
    if (extent < 1) {
      return cursor.error("found an extent of " + std::to_string(extent) + ", expected at least 1");
    }
    if (__builtin_mul_overflow(value_count, extent, &value_count)) {
      return cursor.error("found a shape of more than 2^63 values");
    }
    shape.push_back(extent);
  }
  return shape;
}

Result<std::vector<StoredTensor>> read_tensor_table(Cursor& cursor, std::size_t tensor_count) {
  std::vector<StoredTensor> tensors;
  std::unordered_set<std::string_view> names;
  for (std::size_t i = 0; i < tensor_count; ++i) {
    cursor.enter("tensor " + std::to_string(i + 1) + " of " + std::to_string(tensor_count));
    StoredTensor tensor;
    ADJ_TRY(tensor.entry.name, cursor.text());
    if (tensor.entry.name.empty()) return cursor.error("found an empty name");
    cursor.enter("tensor " + quoted(tensor.entry.name));
    if (!names.insert(tensor.entry.name).second) return cursor.error("found twice");
    ADJ_TRY(tensor.entry.shape, read_shape(cursor));
    ADJ_TRY(tensor.entry.type, cursor.number<std::uint32_t>());
    ADJ_TRY(tensor.offset, cursor.number<std::uint64_t>());
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

// Where tensor data may begin and which offsets are allowed. The specification wants multiples of
// 8, llama.cpp powers of two; with both, every block in the mapped file is aligned.
Result<std::size_t> read_alignment(const Metadata& metadata) {
  constexpr std::string_view kKey = "general.alignment";
  constexpr int kDefault = 32;
  if (!metadata.has(kKey)) return std::size_t{kDefault};
  ADJ_TRY(const int alignment, metadata.integer(kKey, 8, 1 << 30));
  if ((alignment & (alignment - 1)) != 0) {
    return Error{ErrorKind::bad_model, "key " + quoted(kKey) + ": found " +
                                           std::to_string(alignment) + ", expected a power of two"};
  }
  return static_cast<std::size_t>(alignment);
}

// How many bytes a tensor of one of our formats takes.
Result<std::size_t> tensor_bytes(const Cursor& cursor, const TensorEntry& entry,
                                 const DTypeTraits& traits) {
  if (entry.shape.front() % traits.block_values != 0) {
    return cursor.error("found rows of " + std::to_string(entry.shape.front()) +
                        " values, expected a multiple of " + std::to_string(traits.block_values) +
                        ", as the type is " + traits.name);
  }
  std::size_t bytes = static_cast<std::size_t>(traits.block_bytes);
  bool too_large = __builtin_mul_overflow(bytes, entry.shape.front() / traits.block_values, &bytes);
  for (std::size_t i = 1; i < entry.shape.size(); ++i) {
    too_large |= __builtin_mul_overflow(bytes, entry.shape[i], &bytes);
  }
  if (too_large) return cursor.error("found a shape of more than 2^64 bytes");
  return bytes;
}

// Finds each tensor's bytes in `data`, the file from the beginning of its tensor data.
Status place_tensors(Cursor& cursor, std::vector<StoredTensor>& tensors,
                     std::span<const std::byte> data, std::size_t alignment) {
  for (StoredTensor& tensor : tensors) {
    cursor.enter("tensor " + quoted(tensor.entry.name));
    if (tensor.offset % alignment != 0) {
      return cursor.error("found offset " + std::to_string(tensor.offset) +
                          ", expected a multiple of " + std::to_string(alignment));
    }
    const DTypeTraits* traits = find_dtype(tensor.entry.type);
    std::size_t bytes = 0;
    if (traits != nullptr) {
      ADJ_TRY(bytes, tensor_bytes(cursor, tensor.entry, *traits));
    }
    if (tensor.offset > data.size() || bytes > data.size() - tensor.offset) {
      return cursor.error("expected " + std::to_string(bytes) + " bytes at offset " +
                          std::to_string(tensor.offset) + " of the tensor data, found " +
                          std::to_string(data.size()) +
                          " bytes of data in all: the file is cut short or damaged");
    }
    tensor.entry.bytes = data.subspan(tensor.offset, bytes);
  }
  return Done{};
}

// No byte belongs to two tensors.
Status check_overlaps(Cursor& cursor, const std::vector<StoredTensor>& tensors) {
  std::vector<const TensorEntry*> ordered;
  for (const StoredTensor& tensor : tensors) ordered.push_back(&tensor.entry);
  std::sort(ordered.begin(), ordered.end(), [](const TensorEntry* a, const TensorEntry* b) {
    return std::pair(a->bytes.data(), a->bytes.size()) <
           std::pair(b->bytes.data(), b->bytes.size());
  });
  for (std::size_t i = 1; i < ordered.size(); ++i) {
    const TensorEntry& before = *ordered[i - 1];
    if (before.bytes.data() + before.bytes.size() <= ordered[i]->bytes.data()) continue;
    cursor.enter("tensor " + quoted(ordered[i]->name));
    return cursor.error("its data begins inside that of tensor " + quoted(before.name));
  }
  return Done{};
}

}  // namespace

Result<Header> parse_header(std::span<const std::byte> file) {
  const bool short_enough = file.size() <= kHeaderBytesMax;
  Cursor cursor(file.first(std::min(file.size(), kHeaderBytesMax)),
                short_enough ? "the end of the file" : "128 MiB, where a header must have ended");
  ADJ_TRY_DONE(read_preamble(cursor));
  cursor.enter("header");
  ADJ_TRY(const std::size_t tensor_count, cursor.count("tensors", kTensorBytesMin));
  ADJ_TRY(const std::size_t key_count, cursor.count("keys", kKeyBytesMin));

  Header header;
  ADJ_TRY(header.metadata, read_metadata(cursor, key_count));
  ADJ_TRY(const std::size_t alignment, read_alignment(header.metadata));
  ADJ_TRY(std::vector<StoredTensor> tensors, read_tensor_table(cursor, tensor_count));
  header.bytes = cursor.position();

  // Without tensors a file may end before the padding does.
  const std::size_t padding = (alignment - header.bytes % alignment) % alignment;
  const auto data = file.subspan(std::min(header.bytes + padding, file.size()));
  ADJ_TRY_DONE(place_tensors(cursor, tensors, data, alignment));
  ADJ_TRY_DONE(check_overlaps(cursor, tensors));
  for (StoredTensor& tensor : tensors) header.tensors.push_back(std::move(tensor.entry));
  return header;
}

}  // namespace adjudge::gguf
