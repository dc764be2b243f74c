// The twin of every backbone in double precision: simple loops over decoded weights, a token at a
// time, nothing shared with the code it judges but the tensors. For tests.
#pragma once

#include <span>
#include <vector>

#include "base/token.h"
#include "gguf/metadata.h"
#include "nn/weight_source.h"

namespace adjudge::testing {

using Vector = std::vector<double>;

struct ReferenceInput {
  Tokens tokens;
  std::vector<Vector> embeddings;  // in place of tokens
  std::vector<int> positions;      // empty: 0, 1, 2 ...; else all times, heights, widths
};

struct ReferenceResult {
  std::vector<std::vector<Vector>> layers;  // per layer and row: the residual stream after it
  std::vector<Vector> rows;                 // after the final norm
};

ReferenceResult evaluate_reference(const gguf::Metadata& metadata, WeightSource& weights,
                                   const ReferenceInput& input);

// Largest difference relative to the size of the expected row (its root mean square).
double distance(std::span<const float> found, const Vector& expected);

}  // namespace adjudge::testing
