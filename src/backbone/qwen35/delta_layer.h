// The gated delta net of Qwen3.5: a short convolution, then a delta rule whose state decays as the
// token says. One state per value head takes the place of keys and values.
// Reference: delta-net-base.cpp and qwen35.cpp of llama.cpp.
#pragma once

#include <span>
#include <string>

#include "backbone/keys.h"
#include "backbone/layer_context.h"
#include "nn/convolution.h"
#include "nn/delta_rule.h"
#include "nn/matmul.h"

namespace adjudge {

struct DeltaSizes {
  int key_head_count = 0;
  int value_head_count = 0;  // a multiple; value head h reads key head h % key_head_count
  int head_width = 0;        // of queries, keys and values
  int tap_count = 0;         // of the convolution
  float epsilon = 0;

  int key_width() const { return key_head_count * head_width; }
  int value_width() const { return value_head_count * head_width; }
  int channel_count() const { return 2 * key_width() + value_width(); }
  std::size_t state_floats() const {
    return at(value_head_count) * at(head_width) * at(head_width);
  }
};

Result<DeltaSizes> read_delta_sizes(const ArchitectureKeys& keys, const TrunkKeys& trunk);

struct DeltaWeights {
  Matrix qkv;                         // (channel_count, width): queries, keys, values
  Matrix gate;                        // (value_width, width)
  Matrix alpha, beta;                 // (value_head_count, width)
  Matrix output;                      // (width, value_width)
  ConvolutionTaps taps;               // of every channel
  std::span<const float> decay_rate;  // (value_head_count): -exp(A_log), never positive
  std::span<const float> step_bias;   // (value_head_count)
  std::span<const float> norm;        // (head_width)
};

Result<DeltaWeights> find_delta(WeightSource& source, const std::string& block, int width,
                                const DeltaSizes& sizes);

// Scratch floats per row of a pass.
std::size_t delta_scratch(const DeltaSizes& sizes);

// Takes the rows into the states of recurrent layer `slot` and gives the readers' outputs.
// x: (rows, width), overwritten in the last layer; out: (readers, width).
void apply_delta(const LayerContext& context, const DeltaSizes& sizes, const DeltaWeights& weights,
                 int slot, const Rows& x, const Rows& out);

}  // namespace adjudge
