// Block-exact int8 arithmetic: weights and activations as whole numbers in blocks of 32 inputs.
//   out = sum over blocks of x_scale * (w_scale * (sum of w_code * x_code)) + x_sum * w_offset
// The inner sum is exact in int32; scales are applied and added up in f32, block after block.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gguf/dtype.h"

namespace adjudge::kernel {

inline constexpr int kBlockInputs = 32;

// 32 activations of a row are values[i] * scale, |values[i]| <= 127.
struct BlockInput {
  std::int8_t values[kBlockInputs];
  float scale;
  float sum;  // of the values, times scale: what an offset is multiplied with
  // -128 times the sum of the first 16 values, of the last 16, of all. Where an instruction takes
  // unsigned weights these are stored plus 128, and a block's sum starts here.
  std::int32_t bases[3];
};
static_assert(sizeof(BlockInput) == 52);

// How a weight format stands in a block panel: value = scale * code + offset.
struct BlockForm {
  int part_count = 0;  // scales per block: 1, or 2 of 16 weights each; 0: no format of blocks
  bool has_offsets = false;
};

constexpr BlockForm block_form(gguf::DType type) {
  switch (type) {
    case gguf::DType::q4_1:
    case gguf::DType::q5_1:
    case gguf::DType::q4_K:
    case gguf::DType::q5_K:
      return {1, true};
    case gguf::DType::q4_0:
    case gguf::DType::q5_0:
    case gguf::DType::q8_0:
    case gguf::DType::iq4_nl:
    case gguf::DType::iq4_xs:
      return {1, false};
    case gguf::DType::q6_K:
      return {2, false};
    case gguf::DType::f32:
    case gguf::DType::f16:
    case gguf::DType::bf16:
      break;
  }
  return {};
}

// Some inputs of kPanelColumns weight rows.
struct BlockPanel {
  std::uint8_t* codes;  // (inputs, columns) bytes in the level's own order
  float* scales;        // (blocks * part_count, columns)
  float* offsets;       // (blocks, columns); untouched when the form has none
};

}  // namespace adjudge::kernel
