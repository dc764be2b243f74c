// The weight formats of GGUF: how many values a block holds in how many bytes. What the bytes mean
// is one header per format (dtype_q8_0.h ...): a plain struct and its scalar decoder, the
// specification that every kernel is tested against. Source of the formats: ggml-common.h and
// ggml-quants.c of llama.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace adjudge::gguf {

enum class DType : std::uint32_t {
  f32 = 0,
  f16 = 1,
  q4_0 = 2,
  q4_1 = 3,
  q5_0 = 6,
  q5_1 = 7,
  q8_0 = 8,
  q4_K = 12,
  q5_K = 13,
  q6_K = 14,
  iq4_nl = 20,
  iq4_xs = 23,
  bf16 = 30,
};

inline constexpr std::uint32_t kDTypeLimit = 31;  // one past the largest code

struct DTypeTraits {
  DType type;
  const char* name;  // as GGUF tools print it: "Q4_K"
  int block_values;  // a row is a whole number of blocks
  int block_bytes;
  // Decodes `block_count` blocks into block_count * block_values floats.
  void (*decode)(const std::byte* blocks, std::size_t block_count, float* out);
};

// Every format we read; for tables, tests and messages.
std::span<const DTypeTraits> all_dtypes();
// Null when the code is not one of ours.
const DTypeTraits* find_dtype(std::uint32_t code);
const DTypeTraits& traits_of(DType type);
// The name of any GGUF tensor type, known to this program or not ("IQ2_XXS"); for messages.
const char* dtype_name(std::uint32_t code);

}  // namespace adjudge::gguf
