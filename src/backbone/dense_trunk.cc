#include "backbone/dense_trunk.h"

#include <algorithm>

#include "base/try.h"

namespace adjudge {

namespace {

Result<DenseKeys> read_dense_keys(const ArchitectureKeys& architecture) {
  DenseKeys keys;
  ADJ_TRY(keys.trunk, read_trunk_keys(architecture));
  ADJ_TRY(keys.attention, read_attention_sizes(architecture, keys.trunk));
  ADJ_TRY(keys.inner, architecture.count("feed_forward_length", kWidthMax));
  return keys;
}

MemoryShape memory_shape(const DenseKeys& keys) {
  return {.attention_layer_count = keys.trunk.layer_count,
          .key_value_width = keys.attention.key_value_width()};
}

}  // namespace

Result<BackboneTraits> DenseTrunk::read_traits(const gguf::Metadata& metadata) {
  ADJ_TRY(const ArchitectureKeys architecture, ArchitectureKeys::open(metadata));
  ADJ_TRY(const DenseKeys keys, read_dense_keys(architecture));
  return traits_of(architecture, keys.trunk, memory_shape(keys));
}

Result<std::unique_ptr<Backbone>> DenseTrunk::open(const gguf::Metadata& metadata,
                                                   const NetContext& net,
                                                   const BackboneOptions& options,
                                                   const AttentionExtras& extras) {
  ADJ_TRY(const ArchitectureKeys architecture, ArchitectureKeys::open(metadata));
  ADJ_TRY(const DenseKeys keys, read_dense_keys(architecture));
  Parts parts;
  parts.memory = memory_shape(keys);
  parts.traits = traits_of(architecture, keys.trunk, parts.memory);
  parts.epsilon = keys.trunk.epsilon;
  parts.layer_scratch = std::max(attention_scratch(keys.attention), swiglu_scratch(keys.inner));
  ADJ_TRY(parts.weights, find_trunk(*net.weights, keys.trunk, "ffn_norm"));
  std::vector<DenseLayer> layers;
  for (int i = 0; i < keys.trunk.layer_count; ++i) {
    const std::string block = block_name(i);
    DenseLayer layer;
    ADJ_TRY(layer.attention,
            find_attention(*net.weights, block, keys.trunk.width, keys.attention, extras));
    ADJ_TRY(layer.mlp, find_swiglu(*net.weights, block, "", keys.trunk.width, keys.inner));
    layers.push_back(std::move(layer));
  }
  return std::unique_ptr<Backbone>(
      new DenseTrunk(std::move(parts), keys, std::move(layers), net, options));
}

DenseTrunk::DenseTrunk(Parts parts, const DenseKeys& keys, std::vector<DenseLayer> layers,
                       const NetContext& net, const BackboneOptions& options)
    : CausalTrunk(std::move(parts), net, options), keys_(keys), layers_(std::move(layers)) {}

void DenseTrunk::mix(int layer, const LayerContext& context, const Rows& x, const Rows& out) const {
  apply_attention(context, keys_.attention, layers_[at(layer)].attention, layer, x, out);
}

void DenseTrunk::feed(int layer, const LayerContext& context, const Rows& x,
                      const Rows& out) const {
  apply_swiglu(context.net, context.scratch, layers_[at(layer)].mlp, x, out);
}

}  // namespace adjudge
