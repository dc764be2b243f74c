// The whole boundary between network code and instruction sets: one table of function pointers.
// The scalar level fills every entry; each level the machine has overwrites what it improves.
//
// The law every entry obeys: an output's bits depend on its own inputs alone, never on how many
// rows or columns are in the call. Sums run along the inner dimension in one order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gguf/dtype.h"
#include "kernel/blocks.h"

namespace adjudge::kernel {

// Weights are multiplied in panels of this many output columns (rows of the stored matrix).
inline constexpr int kPanelColumns = 32;
// ... and this many inputs at a time: a multiple of every block size, and a panel stays in L2.
inline constexpr int kPanelDepth = 512;

// Decodes inputs [begin, begin + depth) of `columns` weight rows (row_bytes apart) into
// panel[k * kPanelColumns + column]; columns past `columns` become zero. `begin` is a multiple of
// the format's block, as is depth. Decoded weights are bit for bit those of
// DTypeTraits::decode in every level.
using FillPanel = void (*)(const std::byte* rows, std::size_t row_bytes, int columns, int begin,
                           int depth, float* panel);

// The same with two inputs to a word, rounded to bfloat16 (the even one in the lower half):
// panel[k / 2 * kPanelColumns + column]. Behind an odd depth stands a zero.
using FillPairs = void (*)(const std::byte* rows, std::size_t row_bytes, int columns, int begin,
                           int depth, std::uint32_t* panel);

// The same as whole numbers (kernel/blocks.h); columns past `columns` multiply to zero.
using FillBlocks = void (*)(const std::byte* rows, std::size_t row_bytes, int columns, int begin,
                            int depth, const BlockPanel& panel);

// How products with a weight matrix are computed.
enum class Arithmetic { f32, bf16, int8 };

// One row per token, `stride` floats apart.
struct TokenRows {
  const float* data;
  std::size_t stride;
  const float* row(int token) const { return data + static_cast<std::size_t>(token) * stride; }
};

// Consecutive tokens of one head of the gated delta rule.
struct DeltaTokens {
  int count;        // at least 1
  int width;        // of the head's keys
  int columns;      // of the state, and values per token
  TokenRows q, k;   // (width)
  TokenRows v;      // (columns)
  TokenRows decay;  // (1)
  TokenRows beta;   // (1)
  float* out;       // (columns), out_stride floats apart
  std::size_t out_stride;
};

struct Table {
  const char* isa = "none";

  // Whether this level multiplies faster in them than in f32. All levels can.
  bool fast_bf16 = false;
  bool fast_int8 = false;

  // Per weight format (index: DType code); null for codes that are not ours.
  FillPanel fill_panel[gguf::kDTypeLimit] = {};

  // out[r][c] (+)= sum over k of x[r][k] * panel[k][c], k ascending, for `rows` rows and
  // kPanelColumns columns. x is x_stride floats per row, out is out_stride per row and
  // kPanelColumns wide. `accumulate` adds the panel's sum to what out holds: a long inner
  // dimension is a sum of panels' sums, which rounds as a chain of kPanelDepth terms does.
  void (*multiply_panel)(const float* x, std::size_t x_stride, int rows, const float* panel,
                         int depth, float* out, std::size_t out_stride, bool accumulate) = nullptr;

  // bf16: rows are rounded once (count inputs make (count + 1) / 2 words) and multiplied with
  // panels of pairs; depth and stride are in words. Products are exact, sums f32.
  FillPairs fill_pairs[gguf::kDTypeLimit] = {};
  void (*round_pairs)(const float* x, int count, std::uint32_t* out) = nullptr;
  void (*multiply_pairs)(const std::uint32_t* x, std::size_t x_stride, int rows,
                         const std::uint32_t* panel, int depth, float* out, std::size_t out_stride,
                         bool accumulate) = nullptr;

  // int8: rows are quantised once, a block at a time (count is a multiple of kBlockInputs), by
  // scale = largest / 127, rounding to even; and multiplied with panels of the same blocks. Rows
  // are x_stride blocks apart.
  FillBlocks fill_blocks[gguf::kDTypeLimit] = {};  // null for the formats that are floats
  void (*quantise)(const float* x, int count, BlockInput* blocks) = nullptr;
  void (*multiply_blocks)(const BlockInput* x, std::size_t x_stride, int rows,
                          const BlockPanel& panel, BlockForm form, int block_count, float* out,
                          std::size_t out_stride, bool accumulate) = nullptr;

  // sum of a[i] * b[i]
  float (*dot)(const float* a, const float* b, int count) = nullptr;
  // sum += scale * x
  void (*add_scaled)(float* sum, const float* x, float scale, int count) = nullptr;
  // out = x / sqrt(mean(x^2) + epsilon) * weight; weight may be null. In place allowed.
  void (*rms_norm)(const float* x, const float* weight, float epsilon, int count,
                   float* out) = nullptr;
  // x /= sqrt(sum(x^2) + epsilon)
  void (*l2_norm)(float* x, float epsilon, int count) = nullptr;
  // out = (x - mean) / sqrt(variance + epsilon) * weight + bias; bias may be null. In place
  // allowed.
  void (*layer_norm)(const float* x, const float* weight, const float* bias, float epsilon,
                     int count, float* out) = nullptr;
  // x = exp(x - max) / sum, with the sum taken in ascending order by a fixed number of lanes.
  void (*softmax)(float* x, int count) = nullptr;
  // gate = silu(gate) * up
  void (*swiglu)(float* gate, const float* up, int count) = nullptr;
  // x = x * (1 + erf(x / sqrt 2)) / 2: the exact GELU, absolute error below 1e-7 * max(1, |x|).
  void (*gelu)(float* x, int count) = nullptr;
  // gate = gelu(gate) * up
  void (*geglu)(float* gate, const float* up, int count) = nullptr;
  // x *= 1 / (1 + exp(-gate))
  void (*sigmoid_gate)(float* x, const float* gate, int count) = nullptr;
  // Rotates pairs (i, i + half) of x by the angles whose cosines and sines are given (half of
  // each).
  void (*rotate_halves)(float* x, const float* cosines, const float* sines, int half) = nullptr;
  // Tokens of the gated delta rule, in turn, for some columns of one head (nn/delta_rule.h); state
  // is (width, columns) with row stride state_stride. For each token:
  //   state *= decay; u = beta * (v - state^T k); state += k u^T; out = state^T q
  void (*delta_rule)(float* state, std::size_t state_stride, const DeltaTokens& tokens) = nullptr;
  // Depthwise causal convolution of some tokens followed by silu, over `channels` channels; token i
  // looks at rows[i] to rows[i + tap_count - 1], oldest first:
  //   out[i * out_stride + c] = silu(sum over t of taps[t * channels + c] * rows[i + t][c])
  void (*convolve_silu)(const float* const* rows, const float* taps, int tap_count, int token_count,
                        int channels, float* out, std::size_t out_stride) = nullptr;
};

// Every instruction-set level compiled into this program that the machine can run, weakest first.
// The first is always "scalar".
struct LevelNames {
  const char* names[16];
  int count;
};
LevelNames available_levels();

// The table for this machine: scalar first, then every supported level up to `limit` (a level's
// name; null: all). CHECKs that the name is one of available_levels().
Table make_table(const char* limit = nullptr);

}  // namespace adjudge::kernel
