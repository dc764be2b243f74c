// The typed marker head of encoders: a token type for the kind of question is added to every row,
// a few attention blocks without positions follow, and each marked row is scored.
// Reference: build_decision_head in modern-bert.cpp of llama.cpp. That one runs the head for every
// kind and every row; here it runs for the kind asked, and after the last block's keys and values
// for the marked rows alone.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gguf/metadata.h"
#include "nn/attention.h"
#include "readout/biased.h"
#include "readout/readout.h"

namespace adjudge {

struct MarkerBlock {
  BiasedNorm attention_norm, feed_norm;
  BiasedMatrix query, key, value, output;  // (width, width)
  BiasedMatrix up, down;                   // (inner, width), (width, inner)
};

struct MarkerHead {
  int width = 0;
  float epsilon = 0;  // of all norms
  AttentionShape shape;
  std::vector<std::span<const float>> types;  // (width) each
  std::vector<MarkerBlock> blocks;            // at least one
  BiasedNorm score_norm;
  BiasedMatrix score_hidden;  // (width, width)
  BiasedMatrix score;         // (1, width)
};

// The blocks that stand behind the trunk's, <arch>.decision.block_count of them, token_types and
// cls tensors.
Result<std::shared_ptr<const MarkerHead>> open_marker_head(const gguf::Metadata& metadata,
                                                           WeightSource& weights, int width);

class MarkerReadout final : public Readout {
 public:
  MarkerReadout(std::shared_ptr<const MarkerHead> head, int type);

  // rows: all of the prompt; marks: one per option.
  Result<std::vector<std::vector<double>>> read(
      const NetContext& net, std::span<const ReadoutInput> inputs) const override;

 private:
  std::shared_ptr<const MarkerHead> head_;
  int type_;
};

}  // namespace adjudge
