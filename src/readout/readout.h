// What turns final-norm rows into one logit per option. A readout is opened against a file once and
// reads many prompts.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "adjudge/result.h"
#include "base/hidden_rows.h"
#include "base/token.h"
#include "base/try.h"
#include "nn/context.h"

namespace adjudge {

// One reading: the wanted rows of its prompt in order, and which of them it is about. What the
// marks mean is between a family and its readout; many readouts need none.
struct ReadoutInput {
  const HiddenRows* rows = nullptr;
  std::span<const int> marks;  // indices of rows, ascending
};

class Readout {
 public:
  virtual ~Readout() = default;
  // One vector of logits per input. Inputs of several prompts and requests come together, so that
  // their rows may share products; the bits of one do not depend on the others.
  virtual Result<std::vector<std::vector<double>>> read(
      const NetContext& net, std::span<const ReadoutInput> inputs) const = 0;

  // Where its logits are those of tokens, read from a prompt's only row: the matrix that has the
  // rows of all tokens. See label_mass.h.
  virtual const Matrix* vocabulary() const { return nullptr; }
};

// Reads every prompt for itself.
class SingleReadout : public Readout {
 public:
  virtual Result<std::vector<double>> logits(const NetContext& net,
                                             const HiddenRows& rows) const = 0;

  Result<std::vector<std::vector<double>>> read(const NetContext& net,
                                                std::span<const ReadoutInput> inputs) const final {
    std::vector<std::vector<double>> all;
    for (const ReadoutInput& input : inputs) {
      ADJ_TRY(std::vector<double> own, logits(net, *input.rows));
      all.push_back(std::move(own));
    }
    return all;
  }
};

}  // namespace adjudge
