#include "backbone/qwen35/hybrid_mixer.h"

#include <algorithm>

#include "base/try.h"

namespace adjudge {

namespace {

Result<std::vector<bool>> read_recurrent_layers(const ArchitectureKeys& keys, int layer_count) {
  constexpr std::string_view kFlags = "attention.recurrent_layers";
  if (keys.metadata().has(keys.name(kFlags))) {
    ADJ_TRY(std::vector<bool> flags, keys.metadata().booleans(keys.name(kFlags)));
    if (count_of(flags) < layer_count) {
      return keys.refuse(kFlags, std::to_string(flags.size()) + " values",
                         "one for each of " + std::to_string(layer_count) + " layers");
    }
    flags.resize(at(layer_count));  // layers for speculative decoding come last
    return flags;
  }
  ADJ_TRY(const int interval, keys.integer_or("full_attention_interval", 4, 1, kLayerCountMax));
  std::vector<bool> flags;
  for (int i = 0; i < layer_count; ++i) flags.push_back((i + 1) % interval != 0);
  return flags;
}

// Sections count the pairs that turn by time, height and width: interleaved, pair by pair.
Status read_sections(const ArchitectureKeys& keys, HybridKeys& hybrid) {
  constexpr std::string_view kSections = "rope.dimension_sections";
  if (!keys.metadata().has(keys.name(kSections))) return Done{};
  ADJ_TRY(const std::vector<std::int64_t> sections, keys.metadata().integers(keys.name(kSections)));
  Rotary& rotary = hybrid.attention.rotary;
  const int half = rotary.dimensions / 2;
  const auto fits = [half](std::int64_t pairs) { return pairs >= 0 && pairs <= half; };
  if (sections.size() < 3 || !std::all_of(sections.begin(), sections.end(), fits) ||
      sections[0] + sections[1] + sections[2] != half) {
    return keys.refuse(kSections, "other numbers",
                       "times, heights and widths of " + std::to_string(half) + " pairs");
  }
  rotary.height_pairs = static_cast<int>(sections[1]);
  rotary.width_pairs = static_cast<int>(sections[2]);
  hybrid.position_axes = 3;
  return Done{};
}

}  // namespace

Result<HybridKeys> read_hybrid_keys(const ArchitectureKeys& architecture) {
  HybridKeys keys;
  ADJ_TRY(keys.trunk, read_trunk_keys(architecture));
  ADJ_TRY(keys.attention, read_attention_sizes(architecture, keys.trunk));
  keys.attention.gated = true;
  ADJ_TRY(keys.delta, read_delta_sizes(architecture, keys.trunk));
  ADJ_TRY(keys.recurrent, read_recurrent_layers(architecture, keys.trunk.layer_count));
  ADJ_TRY_DONE(read_sections(architecture, keys));
  return keys;
}

MemoryShape memory_shape(const HybridKeys& keys) {
  const int recurrent =
      static_cast<int>(std::count(keys.recurrent.begin(), keys.recurrent.end(), true));
  return {.attention_layer_count = keys.trunk.layer_count - recurrent,
          .key_value_width = keys.attention.key_value_width(),
          .recurrent_layer_count = recurrent,
          .state_floats = keys.delta.state_floats(),
          .tap_count = keys.delta.tap_count - 1,
          .tap_width = keys.delta.channel_count()};
}

Result<HybridMixer> HybridMixer::open(WeightSource& source, const HybridKeys& keys) {
  HybridMixer mixer(keys);
  int attention_count = 0;
  int recurrent_count = 0;
  for (int i = 0; i < keys.trunk.layer_count; ++i) {
    const std::string block = block_name(i);
    const int width = keys.trunk.width;
    if (keys.recurrent[at(i)]) {
      ADJ_TRY(DeltaWeights weights, find_delta(source, block, width, keys.delta));
      mixer.layers_.push_back({std::move(weights), recurrent_count++});
    } else {
      ADJ_TRY(AttentionWeights weights,
              find_attention(source, block, width, keys.attention, {.head_norms = true}));
      mixer.layers_.push_back({std::move(weights), attention_count++});
    }
  }
  return mixer;
}

std::size_t HybridMixer::scratch() const {
  return std::max(attention_scratch(keys_.attention), delta_scratch(keys_.delta));
}

void HybridMixer::apply(int layer, const LayerContext& context, const Rows& x,
                        const Rows& out) const {
  const Layer& own = layers_[at(layer)];
  if (const auto* attention = std::get_if<AttentionWeights>(&own.weights)) {
    apply_attention(context, keys_.attention, *attention, own.slot, x, out);
  } else {
    apply_delta(context, keys_.delta, std::get<DeltaWeights>(own.weights), own.slot, x, out);
  }
}

}  // namespace adjudge
