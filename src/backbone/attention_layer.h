// Causal self-attention of a whole pass: grouped heads, rotary positions, and the variants of the
// Qwen line: biases (qwen2), norms of queries and keys (qwen3), gated outputs (qwen35).
#pragma once

#include <span>
#include <string>

#include "backbone/keys.h"
#include "backbone/layer_context.h"
#include "nn/attention.h"
#include "nn/matmul.h"
#include "nn/rotary.h"

namespace adjudge {

struct AttentionSizes {
  int head_count = 0;
  int kv_head_count = 0;
  int head_width = 0;
  Rotary rotary;
  bool gated = false;  // each head's query is followed by the gate of its output
  float epsilon = 0;   // of the norms of queries and keys

  int query_width() const { return head_count * head_width; }
  int key_value_width() const { return kv_head_count * head_width; }
  int projection_width() const { return gated ? 2 * query_width() : query_width(); }
};

// head_count, head_count_kv, key_length and the rotary keys.
Result<AttentionSizes> read_attention_sizes(const ArchitectureKeys& keys, const TrunkKeys& trunk);

struct AttentionWeights {
  Matrix query;                                             // (projection_width, width)
  Matrix key, value;                                        // (key_value_width, width)
  Matrix output;                                            // (width, query_width)
  std::span<const float> query_bias, key_bias, value_bias;  // empty: none
  std::span<const float> query_norm, key_norm;              // (head_width), empty: none
};

struct AttentionExtras {
  bool biases = false;
  bool head_norms = false;
};

// Tensors "<block>attn_q.weight" and so on, or the fused "<block>attn_qkv.weight".
Result<AttentionWeights> find_attention(WeightSource& source, const std::string& block, int width,
                                        const AttentionSizes& sizes, const AttentionExtras& extras);

// Scratch floats per row of a pass.
std::size_t attention_scratch(const AttentionSizes& sizes);

// Adds the rows' keys and values to the memories as attention layer `slot`, and gives the readers'
// attention. x: (rows, width), overwritten in the last layer; out: (readers, width).
void apply_attention(const LayerContext& context, const AttentionSizes& sizes,
                     const AttentionWeights& weights, int slot, const Rows& x, const Rows& out);

}  // namespace adjudge
