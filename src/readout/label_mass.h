// How much of the whole vocabulary's probability the labels hold: little means that the model would
// have said something else. Costs a product with every row of the output matrix.
#pragma once

#include <span>
#include <vector>

#include "nn/matmul.h"

namespace adjudge {

// For each row (head.columns) the log of the sum of exp(logit) over all tokens. In f32, as label
// logits are; the bits of one row do not depend on the others.
std::vector<double> vocabulary_log_sums(const NetContext& net, const Matrix& head,
                                        std::span<const std::span<const float>> rows);

// From 0 to 1, at temperature 1. The labels share no token.
double label_mass(std::span<const double> label_logits, double vocabulary_log_sum);

}  // namespace adjudge
