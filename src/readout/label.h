// One logit per label: the rows of the output matrix that belong to the labels' tokens, at the last
// token of the prompt. Nothing else of the matrix is touched.
#pragma once

#include "nn/matmul.h"
#include "readout/readout.h"

namespace adjudge {

// The matrix whose rows give token logits: output.weight, or token_embd.weight where they are tied.
Result<Matrix> open_token_head(WeightSource& weights, int vocabulary_count, int width);

class LabelReadout final : public SingleReadout {
 public:
  // A label may be written in several ways; its logit is the log of the sum of their exponentials.
  // Each group has at least one token.
  LabelReadout(const Matrix& head, std::span<const Tokens> groups);

  // rows: the last row of the prompt.
  Result<std::vector<double>> logits(const NetContext& net, const HiddenRows& rows) const override;

  const Matrix* vocabulary() const override { return &head_; }

 private:
  Matrix head_;
  std::vector<int> selected_;    // the tokens of all groups, one group after the other
  std::vector<int> group_ends_;  // in selected_
};

}  // namespace adjudge
