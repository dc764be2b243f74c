// ModernBERT in a file: its keys and tensors. Blocks of a decision head stand behind the trunk's in
// the file and are the readout's business.
// Reference: modern-bert.cpp of llama.cpp and conversion/bert.py.
#include <algorithm>
#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include "backbone/keys.h"
#include "backbone/modern_bert/encoder.h"
#include "backbone/registry.h"
#include "base/try.h"

namespace adjudge {

namespace {

struct ModernBertKeys {
  TrunkKeys trunk;
  AttentionShape shape;
  Gate activation = Gate::gelu;
  std::vector<int> inner;   // per layer
  std::vector<int> window;  // per layer; 0: sees all
  Rotary global, local;
};

// Layers of the trunk; those of a decision head come after them.
Result<int> read_layer_count(const ArchitectureKeys& keys) {
  ADJ_TRY(const int blocks, keys.count("block_count", kLayerCountMax));
  ADJ_TRY(const int head_blocks, keys.integer_or("decision.block_count", 0, 0, kLayerCountMax));
  if (head_blocks < blocks) return blocks - head_blocks;
  return keys.refuse(
      "decision.block_count", std::to_string(head_blocks),
      "fewer than the " + std::to_string(blocks) + " of " + keys.name("block_count"));
}

Result<TrunkKeys> read_encoder_trunk_keys(const ArchitectureKeys& keys) {
  TrunkKeys trunk;
  ADJ_TRY(trunk.layer_count, read_layer_count(keys));
  ADJ_TRY(trunk.width, keys.count("embedding_length", kWidthMax));
  ADJ_TRY(trunk.positions_max, keys.count("context_length", 1 << 24));
  ADJ_TRY(const double epsilon, keys.real("attention.layer_norm_epsilon", 0.0, 1.0));
  trunk.epsilon = static_cast<float>(epsilon);
  ADJ_TRY(trunk.vocabulary_count, read_vocabulary_count(keys));
  return trunk;
}

// Heads turn by pairs.
Result<AttentionShape> read_turned_heads(const ArchitectureKeys& keys, int width) {
  constexpr std::string_view kKey = "attention.head_count";
  ADJ_TRY(const AttentionShape shape, read_even_heads(keys, kKey, width, 2 * kRotaryHalfMax));
  if (shape.head_width % 2 == 0) return shape;
  return keys.refuse(kKey, std::to_string(shape.head_count), "heads of an even width");
}

Result<Rotary> read_rotary(const ArchitectureKeys& keys, std::string_view base_key, double base,
                           int head_width) {
  Rotary rotary{.dimensions = head_width, .base = base};
  if (keys.metadata().has(keys.name(base_key))) {
    ADJ_TRY(rotary.base, keys.real(base_key, 1.0, 1e15));
  }
  return rotary;
}

Result<Gate> read_activation(const ArchitectureKeys& keys) {
  ADJ_TRY(const auto name, keys.metadata().find_string(keys.name("hidden_activation")));
  if (!name || *name == "gelu") return Gate::gelu;
  if (*name == "silu") return Gate::silu;
  return keys.refuse("hidden_activation", "\"" + std::string(*name) + "\"", "gelu or silu");
}

// One width for all layers, or one for each, those of the decision head included.
Result<std::vector<int>> read_inner(const ArchitectureKeys& keys, int layer_count) {
  constexpr std::string_view kKey = "feed_forward_length";
  ADJ_TRY(const std::vector<std::int64_t> stored, keys.metadata().integers(keys.name(kKey)));
  if (stored.size() != 1 && count_of(stored) < layer_count) {
    return keys.refuse(kKey, std::to_string(stored.size()) + " widths",
                       "one, or one for each of " + std::to_string(layer_count) + " layers");
  }
  std::vector<int> inner;
  for (int layer = 0; layer < layer_count; ++layer) {
    const std::int64_t width = stored[stored.size() == 1 ? 0 : at(layer)];
    if (width < 1 || width > kWidthMax) {
      return keys.refuse(kKey, std::to_string(width), "1 to " + std::to_string(kWidthMax));
    }
    inner.push_back(static_cast<int>(width));
  }
  return inner;
}

// Every pattern-th layer from the first on sees all; or the file says layer by layer which do not.
Result<std::vector<bool>> read_windowed(const ArchitectureKeys& keys, int layer_count) {
  constexpr std::string_view kKey = "attention.sliding_window_pattern";
  const gguf::MetaValue* stored = keys.metadata().find(keys.name(kKey));
  if (stored != nullptr && std::holds_alternative<std::vector<bool>>(*stored)) {
    const auto& flags = std::get<std::vector<bool>>(*stored);
    if (count_of(flags) >= layer_count) return flags;
    return keys.refuse(kKey, std::to_string(flags.size()) + " flags",
                       "one for each of " + std::to_string(layer_count) + " layers");
  }
  ADJ_TRY(const int pattern, keys.integer_or(kKey, 3, 1, kLayerCountMax));
  std::vector<bool> windowed;
  for (int layer = 0; layer < layer_count; ++layer) windowed.push_back(layer % pattern != 0);
  return windowed;
}

// The stored window counts both sides: half of it is seen on each, both ends included.
Result<std::vector<int>> read_windows(const ArchitectureKeys& keys, int layer_count) {
  ADJ_TRY(const int width, keys.integer_or("attention.sliding_window", 0, 0, 1 << 24));
  ADJ_TRY(const std::vector<bool> windowed, read_windowed(keys, layer_count));
  std::vector<int> windows;
  for (int layer = 0; layer < layer_count; ++layer) {
    windows.push_back(width > 0 && windowed[at(layer)] ? width / 2 + 1 : 0);
  }
  return windows;
}

Result<ModernBertKeys> read_keys(const ArchitectureKeys& architecture) {
  ModernBertKeys keys;
  ADJ_TRY(keys.trunk, read_encoder_trunk_keys(architecture));
  ADJ_TRY(const auto causal,
          architecture.metadata().find_boolean(architecture.name("attention.causal")));
  if (causal.value_or(false)) return architecture.refuse("attention.causal", "true", "false");
  ADJ_TRY(keys.shape, read_turned_heads(architecture, keys.trunk.width));
  ADJ_TRY(keys.activation, read_activation(architecture));
  ADJ_TRY(keys.inner, read_inner(architecture, keys.trunk.layer_count));
  ADJ_TRY(keys.window, read_windows(architecture, keys.trunk.layer_count));
  ADJ_TRY_DONE(refuse_stretched_positions(architecture));
  ADJ_TRY(keys.global, read_rotary(architecture, "rope.freq_base", 10000.0, keys.shape.head_width));
  ADJ_TRY(keys.local,
          read_rotary(architecture, "rope.freq_base_swa", 10000.0, keys.shape.head_width));
  return keys;
}

BackboneTraits traits_of(const ArchitectureKeys& architecture, const ModernBertKeys& keys) {
  BackboneTraits traits = adjudge::traits_of(architecture, keys.trunk, {});
  traits.causal = false;
  return traits;
}

Result<EncoderLayer> find_layer(WeightSource& source, const ModernBertKeys& keys, int index) {
  const std::string block = "blk." + std::to_string(index) + ".";
  const int width = keys.trunk.width;
  const int inner = keys.inner[at(index)];
  EncoderLayer layer;
  if (index > 0 || source.has(block + "attn_norm.weight")) {
    ADJ_TRY(layer.attention_norm, source.vector(block + "attn_norm.weight", width));
  }
  ADJ_TRY(const Matrix fused, source.matrix(block + "attn_qkv.weight", 3 * width, width));
  layer.query = fused.part(0, width);
  layer.key = fused.part(width, width);
  layer.value = fused.part(2 * width, width);
  ADJ_TRY(layer.output, source.matrix(block + "attn_output.weight", width, width));
  ADJ_TRY(layer.feed_norm, source.vector(block + "ffn_norm.weight", width));
  ADJ_TRY(const Matrix gate_and_up, source.matrix(block + "ffn_up.weight", 2 * inner, width));
  layer.gate = gate_and_up.part(0, inner);
  layer.up = gate_and_up.part(inner, inner);
  ADJ_TRY(layer.down, source.matrix(block + "ffn_down.weight", width, inner));
  layer.window = keys.window[at(index)];
  layer.rotary = layer.window > 0 ? keys.local : keys.global;
  return layer;
}

Result<std::unique_ptr<Backbone>> open(const gguf::Metadata& metadata, const NetContext& net,
                                       const BackboneOptions& options) {
  ADJ_TRY(const ArchitectureKeys architecture, ArchitectureKeys::open(metadata));
  ADJ_TRY(const ModernBertKeys keys, read_keys(architecture));
  WeightSource& source = *net.weights;
  const int width = keys.trunk.width;
  EncoderParts parts;
  parts.traits = traits_of(architecture, keys);
  parts.shape = keys.shape;
  parts.activation = keys.activation;
  parts.epsilon = keys.trunk.epsilon;
  parts.inner_max = *std::ranges::max_element(keys.inner);
  ADJ_TRY(parts.embedding, source.matrix("token_embd.weight", keys.trunk.vocabulary_count, width));
  ADJ_TRY(parts.embedding_norm, source.vector("token_embd_norm.weight", width));
  ADJ_TRY(parts.output_norm, source.vector("output_norm.weight", width));
  for (int i = 0; i < keys.trunk.layer_count; ++i) {
    ADJ_TRY(EncoderLayer layer, find_layer(source, keys, i));
    parts.layers.push_back(std::move(layer));
  }
  return std::unique_ptr<Backbone>(std::make_unique<Encoder>(std::move(parts), net, options));
}

Result<BackboneTraits> read_traits(const gguf::Metadata& metadata) {
  ADJ_TRY(const ArchitectureKeys architecture, ArchitectureKeys::open(metadata));
  ADJ_TRY(const ModernBertKeys keys, read_keys(architecture));
  return traits_of(architecture, keys);
}

}  // namespace

BackboneEntry modern_bert_backbone() {
  return {.name = "modern-bert",
          .claims = [](std::string_view architecture) { return architecture == "modern-bert"; },
          .open = open,
          .read_traits = read_traits};
}

}  // namespace adjudge
