// Qwen3.5 with experts: the mixers of qwen35, and feed-forward parts of which a row uses a few.
// Reference: qwen35moe.cpp of llama.cpp.
#include <algorithm>

#include "backbone/causal_trunk.h"
#include "backbone/qwen35/hybrid_mixer.h"
#include "backbone/qwen35moe/expert_mlp.h"
#include "backbone/registry.h"
#include "base/try.h"

namespace adjudge {

namespace {

class Qwen35Moe final : public CausalTrunk {
 public:
  static Result<BackboneTraits> read_traits(const gguf::Metadata& metadata) {
    ADJ_TRY(const ArchitectureKeys architecture, ArchitectureKeys::open(metadata));
    ADJ_TRY(const HybridKeys keys, read_hybrid_keys(architecture));
    ADJ_TRY_DONE(read_expert_sizes(architecture));
    return traits_of(architecture, keys.trunk, memory_shape(keys));
  }

  static Result<std::unique_ptr<Backbone>> open(const gguf::Metadata& metadata,
                                                const NetContext& net,
                                                const BackboneOptions& options) {
    ADJ_TRY(const ArchitectureKeys architecture, ArchitectureKeys::open(metadata));
    ADJ_TRY(const HybridKeys keys, read_hybrid_keys(architecture));
    ADJ_TRY(const ExpertSizes sizes, read_expert_sizes(architecture));
    ADJ_TRY(HybridMixer mixer, HybridMixer::open(*net.weights, keys));
    const int width = keys.trunk.width;
    std::vector<ExpertWeights> mlps;
    for (int i = 0; i < keys.trunk.layer_count; ++i) {
      ADJ_TRY(ExpertWeights mlp, find_experts(*net.weights, block_name(i), width, sizes));
      mlps.push_back(std::move(mlp));
    }
    Parts parts;
    parts.memory = memory_shape(keys);
    parts.traits = traits_of(architecture, keys.trunk, parts.memory);
    parts.epsilon = keys.trunk.epsilon;
    parts.position_axes = keys.position_axes;
    parts.layer_scratch = std::max(mixer.scratch(), expert_scratch(sizes, width));
    ADJ_TRY(parts.weights, find_trunk(*net.weights, keys.trunk, "post_attention_norm"));
    return std::unique_ptr<Backbone>(
        new Qwen35Moe(std::move(parts), std::move(mixer), sizes, std::move(mlps), net, options));
  }

 private:
  Qwen35Moe(Parts parts, HybridMixer mixer, const ExpertSizes& sizes,
            std::vector<ExpertWeights> mlps, const NetContext& net, const BackboneOptions& options)
      : CausalTrunk(std::move(parts), net, options),
        mixer_(std::move(mixer)),
        sizes_(sizes),
        mlps_(std::move(mlps)) {}

  void mix(int layer, const LayerContext& context, const Rows& x, const Rows& out) const override {
    mixer_.apply(layer, context, x, out);
  }

  void feed(int layer, const LayerContext& context, const Rows& x, const Rows& out) const override {
    apply_experts(context.net, context.scratch, sizes_, mlps_[at(layer)], shares_, x, out);
  }

  const HybridMixer mixer_;
  const ExpertSizes sizes_;
  const std::vector<ExpertWeights> mlps_;
  mutable std::vector<ExpertShare> shares_;  // kept between passes
};

}  // namespace

BackboneEntry qwen35moe_backbone() {
  return {.name = "qwen35moe",
          .claims = [](std::string_view architecture) { return architecture == "qwen35moe"; },
          .open = Qwen35Moe::open,
          .read_traits = Qwen35Moe::read_traits};
}

}  // namespace adjudge
