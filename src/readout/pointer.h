// Kev's pointer: the end of the prompt is a query, the end of each option a key; their scaled dot
// product is the option's logit. Reference: kev/model.py; cls.output in llama.cpp's conversion.
#pragma once

#include "nn/matmul.h"
#include "readout/readout.h"

namespace adjudge {

struct PointerHead {
  Matrix weight;                // (2 * width, hidden): query rows, then key rows
  std::span<const float> bias;  // 2 * width
  int width = 0;                // of a query or key
};

// cls.output.weight and cls.output.bias; `output_count` is the file's embedding_length_out, even.
Result<PointerHead> open_pointer_head(WeightSource& weights, int output_count, int hidden_width);

class PointerReadout final : public SingleReadout {
 public:
  explicit PointerReadout(const PointerHead& head) : head_(head) {}

  // rows: the end of each option in order, then the last row of the prompt.
  Result<std::vector<double>> logits(const NetContext& net, const HiddenRows& rows) const override;

 private:
  // Rows [first, first + width) of the head applied to each of `count` hidden rows from `begin`.
  std::vector<float> project(const NetContext& net, const HiddenRows& rows, int begin, int count,
                             int first) const;

  PointerHead head_;
};

}  // namespace adjudge
