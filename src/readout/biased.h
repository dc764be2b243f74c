// Products and norms with a bias, as heads have them where trunks have none.
#pragma once

#include <span>
#include <string>

#include "base/try.h"
#include "nn/rows.h"

namespace adjudge {

// y = x W^T + bias
struct BiasedMatrix {
  Matrix weight;
  std::span<const float> bias;
};

struct BiasedNorm {
  std::span<const float> weight, bias;
};

// NAME.weight and NAME.bias.
inline Result<BiasedMatrix> find_biased_matrix(WeightSource& weights, const std::string& name,
                                               int rows, int columns) {
  BiasedMatrix found;
  ADJ_TRY(found.weight, weights.matrix(name + ".weight", rows, columns));
  ADJ_TRY(found.bias, weights.vector(name + ".bias", rows));
  return found;
}

inline Result<BiasedNorm> find_biased_norm(WeightSource& weights, const std::string& name,
                                           int width) {
  BiasedNorm found;
  ADJ_TRY(found.weight, weights.vector(name + ".weight", width));
  ADJ_TRY(found.bias, weights.vector(name + ".bias", width));
  return found;
}

inline void multiply(const NetContext& net, const Rows& x, const BiasedMatrix& matrix,
                     const Rows& out) {
  multiply(net, x, matrix.weight, out);
  add_bias(net, out, matrix.bias);
}

inline void layer_norm(const NetContext& net, const Rows& x, const BiasedNorm& norm, float epsilon,
                       const Rows& out) {
  layer_norm(net, x, norm.weight, norm.bias, epsilon, out);
}

}  // namespace adjudge
