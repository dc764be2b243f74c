// How fast this machine could multiply, and how long a model's matrix products take at the least:
// the yardstick beside measured times.
#pragma once

#include <array>

#include "decide/model.h"

namespace adjudge::app {

// Operations per second of the whole crew, by arithmetic (kernel::Arithmetic); zero where the
// instruction set in use has no instruction of its own for it.
using CeilingRates = std::array<double, 3>;

// Takes some 100 ms.
CeilingRates measure_ceilings(const Model& model);

// Seconds of arithmetic a token needs at those rates, in the matrices that every token passes: the
// last layer, of which only wanted rows need more, with its keys and values alone. Zero when a rate
// is not known.
double product_seconds_per_token(const Model& model, const CeilingRates& rates);

}  // namespace adjudge::app
