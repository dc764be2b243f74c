// Qwen3.5: gated delta nets and gated attention over one residual stream, each block followed by a
// SwiGLU. A file with a joint head calls the same network by an architecture of its own.
// Reference: qwen35.cpp and clef.cpp of llama.cpp.
#include <algorithm>

#include "backbone/causal_trunk.h"
#include "backbone/qwen35/hybrid_mixer.h"
#include "backbone/registry.h"
#include "backbone/swiglu_mlp.h"
#include "base/try.h"

namespace adjudge {

namespace {

class Qwen35 final : public CausalTrunk {
 public:
  static Result<BackboneTraits> read_traits(const gguf::Metadata& metadata) {
    ADJ_TRY(const ArchitectureKeys architecture, ArchitectureKeys::open(metadata));
    ADJ_TRY(const HybridKeys keys, read_hybrid_keys(architecture));
    ADJ_TRY_DONE(read_inner(architecture));
    return traits_of(architecture, keys.trunk, memory_shape(keys));
  }

  static Result<std::unique_ptr<Backbone>> open(const gguf::Metadata& metadata,
                                                const NetContext& net,
                                                const BackboneOptions& options) {
    ADJ_TRY(const ArchitectureKeys architecture, ArchitectureKeys::open(metadata));
    ADJ_TRY(const HybridKeys keys, read_hybrid_keys(architecture));
    ADJ_TRY(const int inner, read_inner(architecture));
    ADJ_TRY(HybridMixer mixer, HybridMixer::open(*net.weights, keys));
    std::vector<SwigluWeights> mlps;
    for (int i = 0; i < keys.trunk.layer_count; ++i) {
      ADJ_TRY(SwigluWeights mlp,
              find_swiglu(*net.weights, block_name(i), "", keys.trunk.width, inner));
      mlps.push_back(std::move(mlp));
    }
    Parts parts;
    parts.memory = memory_shape(keys);
    parts.traits = traits_of(architecture, keys.trunk, parts.memory);
    parts.epsilon = keys.trunk.epsilon;
    parts.position_axes = keys.position_axes;
    parts.layer_scratch = std::max(mixer.scratch(), swiglu_scratch(inner));
    ADJ_TRY(parts.weights, find_trunk(*net.weights, keys.trunk, "post_attention_norm"));
    return std::unique_ptr<Backbone>(
        new Qwen35(std::move(parts), std::move(mixer), std::move(mlps), net, options));
  }

 private:
  Qwen35(Parts parts, HybridMixer mixer, std::vector<SwigluWeights> mlps, const NetContext& net,
         const BackboneOptions& options)
      : CausalTrunk(std::move(parts), net, options),
        mixer_(std::move(mixer)),
        mlps_(std::move(mlps)) {}

  static Result<int> read_inner(const ArchitectureKeys& architecture) {
    return architecture.count("feed_forward_length", kWidthMax);
  }

  void mix(int layer, const LayerContext& context, const Rows& x, const Rows& out) const override {
    mixer_.apply(layer, context, x, out);
  }

  void feed(int layer, const LayerContext& context, const Rows& x, const Rows& out) const override {
    apply_swiglu(context.net, context.scratch, mlps_[at(layer)], x, out);
  }

  const HybridMixer mixer_;
  const std::vector<SwigluWeights> mlps_;
};

bool claims(std::string_view architecture) {
  // tidy: allow family-names: an architecture of GGUF, whatever is asked of its files
  return architecture == "qwen35" || architecture == "clef";
}

}  // namespace

BackboneEntry qwen35_backbone() {
  return {
      .name = "qwen35", .claims = claims, .open = Qwen35::open, .read_traits = Qwen35::read_traits};
}

}  // namespace adjudge
