#include "gguf/dtype.h"

#include <iterator>

#include "base/check.h"
#include "gguf/dtype_bf16.h"
#include "gguf/dtype_f16.h"
#include "gguf/dtype_f32.h"
#include "gguf/dtype_iq4_nl.h"
#include "gguf/dtype_iq4_xs.h"
#include "gguf/dtype_q4_0.h"
#include "gguf/dtype_q4_1.h"
#include "gguf/dtype_q4_k.h"
#include "gguf/dtype_q5_0.h"
#include "gguf/dtype_q5_1.h"
#include "gguf/dtype_q5_k.h"
#include "gguf/dtype_q6_k.h"
#include "gguf/dtype_q8_0.h"

namespace adjudge::gguf {

namespace {

// Every tensor type that GGUF files were ever written with, by code (enum ggml_type of ggml.h).
constexpr const char* kNames[] = {
    "F32",   "F16",        "Q4_0",       "Q4_1",       "Q4_2",     "Q4_3",     "Q5_0",
    "Q5_1",  "Q8_0",       "Q8_1",       "Q2_K",       "Q3_K",     "Q4_K",     "Q5_K",
    "Q6_K",  "Q8_K",       "IQ2_XXS",    "IQ2_XS",     "IQ3_XXS",  "IQ1_S",    "IQ4_NL",
    "IQ3_S", "IQ2_S",      "IQ4_XS",     "I8",         "I16",      "I32",      "I64",
    "F64",   "IQ1_M",      "BF16",       "Q4_0_4_4",   "Q4_0_4_8", "Q4_0_8_8", "TQ1_0",
    "TQ2_0", "IQ4_NL_4_4", "IQ4_NL_4_8", "IQ4_NL_8_8", "MXFP4",    "NVFP4",    "Q1_0",
    "Q2_0",
};

template <class Block, void (*decode_block)(const Block&, float*)>
constexpr DTypeTraits row(DType type) {
  return {type, kNames[static_cast<std::uint32_t>(type)], Block::kValues, sizeof(Block),
          [](const std::byte* blocks, std::size_t block_count, float* out) {
            const auto* typed = reinterpret_cast<const Block*>(blocks);
            for (std::size_t i = 0; i < block_count; ++i)
              decode_block(typed[i], out + i * Block::kValues);
          }};
}

constexpr DTypeTraits kTraits[] = {
    row<BlockF32, decode_f32>(DType::f32),         row<BlockF16, decode_f16>(DType::f16),
    row<BlockBf16, decode_bf16>(DType::bf16),      row<BlockQ8_0, decode_q8_0>(DType::q8_0),
    row<BlockQ4_0, decode_q4_0>(DType::q4_0),      row<BlockQ4_1, decode_q4_1>(DType::q4_1),
    row<BlockQ5_0, decode_q5_0>(DType::q5_0),      row<BlockQ5_1, decode_q5_1>(DType::q5_1),
    row<BlockQ4_K, decode_q4_k>(DType::q4_K),      row<BlockQ5_K, decode_q5_k>(DType::q5_K),
    row<BlockQ6_K, decode_q6_k>(DType::q6_K),      row<BlockIq4Nl, decode_iq4_nl>(DType::iq4_nl),
    row<BlockIq4Xs, decode_iq4_xs>(DType::iq4_xs),
};

}  // namespace

const DTypeTraits* find_dtype(std::uint32_t code) {
  for (const DTypeTraits& traits : kTraits) {
    if (static_cast<std::uint32_t>(traits.type) == code) return &traits;
  }
  return nullptr;
}

const DTypeTraits& traits_of(DType type) {
  const DTypeTraits* traits = find_dtype(static_cast<std::uint32_t>(type));
  CHECK(traits != nullptr);
  return *traits;
}

const char* dtype_name(std::uint32_t code) {
  return code < std::size(kNames) ? kNames[code] : "unknown";
}

std::span<const DTypeTraits> all_dtypes() { return kTraits; }

}  // namespace adjudge::gguf
