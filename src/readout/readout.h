// What turns final-norm rows into one logit per option. A readout is opened against a file once and
// reads many prompts.
#pragma once

#include <span>
#include <vector>

#include "adjudge/result.h"
#include "base/hidden_rows.h"
#include "base/token.h"
#include "nn/context.h"

namespace adjudge {

// Reads one prompt. `rows` are the prompt's wanted rows in order.
class Readout {
 public:
  virtual ~Readout() = default;
  virtual Result<std::vector<double>> logits(const NetContext& net,
                                             const HiddenRows& rows) const = 0;
};

}  // namespace adjudge
