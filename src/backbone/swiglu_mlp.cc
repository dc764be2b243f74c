#include "backbone/swiglu_mlp.h"

#include <array>

#include "base/try.h"
#include "nn/rows.h"

namespace adjudge {

Result<SwigluWeights> find_swiglu(WeightSource& source, const std::string& block,
                                  const std::string& suffix, int width, int inner) {
  SwigluWeights weights;
  ADJ_TRY(weights.gate, source.matrix(block + "ffn_gate" + suffix + ".weight", inner, width));
  ADJ_TRY(weights.up, source.matrix(block + "ffn_up" + suffix + ".weight", inner, width));
  ADJ_TRY(weights.down, source.matrix(block + "ffn_down" + suffix + ".weight", width, inner));
  return weights;
}

std::size_t swiglu_scratch(int inner) { return Scratch::stride_of({inner, inner}); }

void apply_swiglu(const NetContext& net, Scratch& scratch, const SwigluWeights& weights,
                  const Rows& x, const Rows& out) {
  Scratch::Frame frame(scratch);
  const Rows gate = frame.rows(x.count, weights.gate.rows);
  const Rows up = frame.rows(x.count, weights.up.rows);
  const std::array<Product, 2> products = {{{&weights.gate, gate}, {&weights.up, up}}};
  multiply(net, x, products);
  swiglu(net, gate, up);
  multiply(net, gate, weights.down, out);
}

}  // namespace adjudge
