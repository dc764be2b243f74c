// The feed-forward part of a block: down(silu(gate(x)) * up(x)).
#pragma once

#include <string>

#include "backbone/scratch.h"
#include "nn/context.h"
#include "nn/matmul.h"

namespace adjudge {

struct SwigluWeights {
  Matrix gate, up;  // (inner, width)
  Matrix down;      // (width, inner)
};

// Tensors "<block>ffn_gate<suffix>.weight" and so on.
Result<SwigluWeights> find_swiglu(WeightSource& source, const std::string& block,
                                  const std::string& suffix, int width, int inner);

// Scratch floats per row.
std::size_t swiglu_scratch(int inner);

// x, out: (rows, width); out may be x.
void apply_swiglu(const NetContext& net, Scratch& scratch, const SwigluWeights& weights,
                  const Rows& x, const Rows& out);

}  // namespace adjudge
