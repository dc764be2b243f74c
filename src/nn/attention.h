// Attention of query rows over keys and values that lie in several runs (a memory and its
// ancestors). Keys are taken in ascending absolute position, whatever the runs are, so a cut or a
// fork never shows in the bits.
#pragma once

#include <span>

#include "nn/matmul.h"

namespace adjudge {

struct AttentionShape {
  int head_count = 0;
  int kv_head_count = 0;  // query head h reads kv head h / (head_count / kv_head_count)
  int head_width = 0;
  float scale = 1.0f;
};

// `count` consecutive positions; rows of kv_head_count * head_width floats.
struct KeyValueRun {
  const float* keys = nullptr;
  const float* values = nullptr;
  int count = 0;
};

struct AttentionWork {
  Rows queries;                       // (rows, head_count * head_width)
  std::span<const KeyValueRun> runs;  // positions [0, total), oldest first
  // Row i sees keys [0, first_visible + i) when causal, all of them otherwise.
  int first_visible = 1;
  bool causal = true;
  // Non-zero: row i (at position first_visible - 1 + i) sees only keys nearer than `window`:
  // |key - position| < window.
  int window = 0;
  Rows out;  // (rows, head_count * head_width)
};

// All works in one round of the crew.
void attend(const NetContext& net, const AttentionShape& shape,
            std::span<const AttentionWork> works);

}  // namespace adjudge
