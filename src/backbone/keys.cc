#include "backbone/keys.h"

#include <cmath>
#include <limits>

#include "base/size.h"
#include "base/try.h"

namespace adjudge {

// The tokenizer decides how many tokens there are; the key only helps files without one.
Result<int> read_vocabulary_count(const ArchitectureKeys& keys) {
  constexpr std::string_view kTokens = "tokenizer.ggml.tokens";
  if (!keys.metadata().has(kTokens)) return keys.count("vocab_size", 1 << 24);
  ADJ_TRY(const std::vector<std::string_view> tokens, keys.metadata().strings(kTokens));
  if (tokens.empty()) {
    return Error{ErrorKind::bad_model, std::string(kTokens) + ": found none, expected some"};
  }
  return count_of(tokens);
}

Status refuse_stretched_positions(const ArchitectureKeys& keys) {
  ADJ_TRY(const auto type, keys.metadata().find_string(keys.name("rope.scaling.type")));
  ADJ_TRY(const auto factor, keys.metadata().find_real(keys.name("rope.scaling.factor")));
  const bool stretched = factor.value_or(1.0) != 1.0 && factor.value_or(1.0) != 0.0;
  if (stretched || (type && *type != "none" && *type != "linear")) {
    return Error{ErrorKind::not_supported, keys.name("rope.scaling.type") + ": found " +
                                               std::string(type.value_or("linear")) +
                                               ", expected none"};
  }
  return Done{};
}

Result<ArchitectureKeys> ArchitectureKeys::open(const gguf::Metadata& metadata) {
  ADJ_TRY(const std::string_view architecture, metadata.string("general.architecture"));
  return ArchitectureKeys(metadata, architecture);
}

Result<int> ArchitectureKeys::integer(std::string_view key, int least, int most) const {
  return metadata_->integer(name(key), least, most);
}

Result<int> ArchitectureKeys::integer_or(std::string_view key, int fallback, int least,
                                         int most) const {
  if (!metadata_->has(name(key))) return fallback;
  return integer(key, least, most);
}

Result<double> ArchitectureKeys::real(std::string_view key, double least, double most) const {
  ADJ_TRY(const double value, metadata_->real(name(key)));
  if (!(value >= least && value <= most)) {
    return refuse(key, std::to_string(value),
                  "a number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return value;
}

Error ArchitectureKeys::refuse(std::string_view key, const std::string& found,
                               const std::string& expected) const {
  return {ErrorKind::bad_model, name(key) + ": found " + found + ", expected " + expected};
}

Result<AttentionShape> read_even_heads(const ArchitectureKeys& keys, std::string_view count_key,
                                       int width, int head_width_max) {
  ADJ_TRY(const int head_count, keys.count(count_key, kHeadCountMax));
  const int head_width = width / head_count;
  if (width % head_count != 0 || head_width > head_width_max) {
    return keys.refuse(count_key, std::to_string(head_count),
                       "a divisor of the width, " + std::to_string(width) +
                           ", for heads of at most " + std::to_string(head_width_max));
  }
  return AttentionShape{head_count, head_count, head_width,
                        1.0f / std::sqrt(static_cast<float>(head_width))};
}

Result<TrunkKeys> read_trunk_keys(const ArchitectureKeys& keys) {
  TrunkKeys trunk;
  ADJ_TRY(const int blocks, keys.count("block_count", kLayerCountMax));
  ADJ_TRY(const int speculative, keys.integer_or("nextn_predict_layers", 0, 0, kLayerCountMax));
  if (speculative >= blocks) {
    return keys.refuse(
        "nextn_predict_layers", std::to_string(speculative),
        "fewer than the " + std::to_string(blocks) + " of " + keys.name("block_count"));
  }
  trunk.layer_count = blocks - speculative;
  ADJ_TRY(trunk.width, keys.count("embedding_length", kWidthMax));
  ADJ_TRY(trunk.positions_max, keys.count("context_length", std::numeric_limits<int>::max()));
  ADJ_TRY(const double epsilon, keys.real("attention.layer_norm_rms_epsilon", 0.0, 1.0));
  trunk.epsilon = static_cast<float>(epsilon);
  ADJ_TRY(trunk.vocabulary_count, read_vocabulary_count(keys));
  return trunk;
}

BackboneTraits traits_of(const ArchitectureKeys& keys, const TrunkKeys& trunk,
                         const MemoryShape& memory) {
  BackboneTraits traits;
  traits.name = keys.architecture();
  traits.width = trunk.width;
  traits.layer_count = trunk.layer_count;
  traits.vocabulary_count = trunk.vocabulary_count;
  traits.positions_max = trunk.positions_max;
  traits.memory_bytes_per_token = memory.bytes_per_token();
  traits.memory_bytes_fixed = memory.bytes_fixed();
  return traits;
}

}  // namespace adjudge
