// The gated delta rule, token by token: the memory of a linear-attention head.
//   S = decay * S;  u = beta * (v - S^T k);  S = S + k u^T;  out = S^T q
// S is (width, width) f32 per value head and starts at zero. The recurrent form gives the same bits
// however a prompt is cut; a slice of columns stays in L1 for all tokens of a work.
#pragma once

#include <span>

#include "nn/matmul.h"

namespace adjudge {

struct DeltaShape {
  int key_head_count = 0;
  int value_head_count = 0;  // value head h uses key head h % key_head_count
  int width = 0;             // of q, k and v
};

struct DeltaWork {
  Rows queries, keys;               // (rows, key_head_count * width), already normalised and scaled
  Rows values;                      // (rows, value_head_count * width)
  Rows decays, betas;               // (rows, value_head_count)
  const float* state_in = nullptr;  // (value_head_count, width, width); null: zeros. Never written.
  float* state_out = nullptr;       // the state after the last row; null: nobody continues from it
  Rows out;                         // (rows, value_head_count * width)
};

// Works in order: a later work's state_in may be an earlier one's state_out.
void apply_delta_rule(const NetContext& net, const DeltaShape& shape,
                      std::span<const DeltaWork> works);

}  // namespace adjudge
