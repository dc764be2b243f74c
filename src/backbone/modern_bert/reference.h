// ModernBERT's twin in double precision: simple loops over decoded weights, nothing shared with the
// code it judges but the tensors. For tests.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backbone/reference.h"

namespace adjudge::testing {

struct EncoderReferenceOptions {
  std::function<double(double)> gelu;  // in place of the exact one
};

struct EncoderReference {
  std::vector<std::vector<Vector>> after_attention;  // per layer and row: the residual stream
  std::vector<Vector> embedded;                      // per row, after the norm
  std::vector<Vector> rows;                          // after the final norm
};

EncoderReference evaluate_encoder_reference(const gguf::Metadata& metadata, WeightSource& weights,
                                            const Tokens& tokens,
                                            const EncoderReferenceOptions& options = {});

}  // namespace adjudge::testing
