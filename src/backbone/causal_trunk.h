// The common part of causal networks: embedding, a residual stream through pre-norm blocks, final
// norm. A network fills in what mixes positions and what works on each row alone.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backbone/backbone.h"
#include "backbone/keys.h"
#include "backbone/layer_context.h"
#include "backbone/registry.h"

namespace adjudge {

struct BlockNorms {
  std::span<const float> mixer;  // (width)
  std::span<const float> feed;   // (width)
};

struct TrunkWeights {
  Matrix embedding;  // (vocabulary_count, width)
  std::vector<BlockNorms> blocks;
  std::span<const float> output_norm;  // (width)
};

// "blk.7."
std::string block_name(int layer);

// `feed_norm`: the tensor before the feed-forward part, "ffn_norm" or "post_attention_norm".
Result<TrunkWeights> find_trunk(WeightSource& source, const TrunkKeys& keys,
                                std::string_view feed_norm);

class CausalTrunk : public Backbone {
 public:
  const BackboneTraits& traits() const final { return traits_; }
  std::unique_ptr<Memory> begin(const MemoryOptions& options) const final;
  Status extend(std::span<const Work> works, std::stop_token stop) const final;
  int rows_max() const final { return options_.rows_max; }
  std::size_t scratch_bytes() const final { return scratch_floats_ * sizeof(float); }

 protected:
  struct Parts {
    BackboneTraits traits;
    TrunkWeights weights;
    float epsilon = 0;
    MemoryShape memory;
    int position_axes = 1;
    std::size_t layer_scratch = 0;  // floats per row that the hungriest layer takes
  };
  CausalTrunk(Parts parts, const NetContext& net, const BackboneOptions& options);

  // x: (rows, width), normed, may be overwritten; out: (readers, width).
  virtual void mix(int layer, const LayerContext& context, const Rows& x,
                   const Rows& out) const = 0;
  // x: (rows, width), normed, may be overwritten; out: (rows, width).
  virtual void feed(int layer, const LayerContext& context, const Rows& x,
                    const Rows& out) const = 0;

 private:
  void embed(std::span<const Work> works, const Rows& x) const;
  void apply_block(int layer, Rows& x) const;
  void hand_out(const Rows& x) const;

  const BackboneTraits traits_;
  const TrunkWeights weights_;
  const float epsilon_;
  const MemoryShape memory_shape_;
  const int position_axes_;
  const NetContext net_;
  const BackboneOptions options_;
  const std::size_t scratch_floats_;
  // Shared with memories, some of which outlive the network.
  const std::shared_ptr<SpareArrays> spares_ = std::make_shared<SpareArrays>();

  // Working memory of the pass under way; one thread uses a backbone at a time.
  mutable Pass pass_;
  mutable Scratch scratch_;
  mutable WorkLists lists_;
};

}  // namespace adjudge
