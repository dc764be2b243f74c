// System One, asked in several ways at once: in several orders of the options, or every question
// by itself. Bodies and answers are System One's.
#pragma once

#include "protocol/dialect.h"

namespace adjudge::serve {

// Each choice is the mean over rotations of its options, and says how far they lay apart.
extern const Dialect kPermuted;
// No question is shown to the model in the company of another, whatever the family.
extern const Dialect kSeparate;

}  // namespace adjudge::serve
