// Causal networks whose blocks are attention and SwiGLU: the older Qwen line.
#pragma once

#include <vector>

#include "backbone/attention_layer.h"
#include "backbone/causal_trunk.h"
#include "backbone/swiglu_mlp.h"

namespace adjudge {

struct DenseKeys {
  TrunkKeys trunk;
  AttentionSizes attention;
  int inner = 0;  // width of the feed-forward part
};

struct DenseLayer {
  AttentionWeights attention;
  SwigluWeights mlp;
};

class DenseTrunk final : public CausalTrunk {
 public:
  static Result<BackboneTraits> read_traits(const gguf::Metadata& metadata);
  static Result<std::unique_ptr<Backbone>> open(const gguf::Metadata& metadata,
                                                const NetContext& net,
                                                const BackboneOptions& options,
                                                const AttentionExtras& extras);

 private:
  DenseTrunk(Parts parts, const DenseKeys& keys, std::vector<DenseLayer> layers,
             const NetContext& net, const BackboneOptions& options);

  void mix(int layer, const LayerContext& context, const Rows& x, const Rows& out) const override;
  void feed(int layer, const LayerContext& context, const Rows& x, const Rows& out) const override;

  const DenseKeys keys_;
  const std::vector<DenseLayer> layers_;
};

}  // namespace adjudge
