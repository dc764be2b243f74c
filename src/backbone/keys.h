// The keys of a model's architecture, "<architecture>.name", each within limits that no real model
// reaches, so that sizes computed from them fit. Messages name key, found and expected.
#pragma once

#include <string>
#include <string_view>

#include "adjudge/result.h"
#include "backbone/backbone.h"
#include "backbone/sequence_memory.h"
#include "gguf/metadata.h"
#include "nn/attention.h"
#include "nn/rotary.h"

namespace adjudge {

inline constexpr int kLayerCountMax = 1024;
inline constexpr int kWidthMax = 1 << 20;      // of a hidden row, of a feed-forward row
inline constexpr int kHeadCountMax = 4096;     // heads of any kind, and experts
inline constexpr int kHeadWidthMax = 1 << 13;  // 3 * heads * width * 2 still fits an int

class ArchitectureKeys {
 public:
  // Takes the architecture from general.architecture. Borrows the metadata.
  static Result<ArchitectureKeys> open(const gguf::Metadata& metadata);

  const std::string& architecture() const { return architecture_; }
  const gguf::Metadata& metadata() const { return *metadata_; }
  std::string name(std::string_view key) const { return architecture_ + "." + std::string(key); }

  // An integer in [least, most].
  Result<int> integer(std::string_view key, int least, int most) const;
  Result<int> integer_or(std::string_view key, int fallback, int least, int most) const;
  // A count of at least one.
  Result<int> count(std::string_view key, int most) const { return integer(key, 1, most); }
  // A number in [least, most].
  Result<double> real(std::string_view key, double least, double most) const;

  // The error of a key whose value cannot be.
  Error refuse(std::string_view key, const std::string& found, const std::string& expected) const;

 private:
  ArchitectureKeys(const gguf::Metadata& metadata, std::string_view architecture)
      : metadata_(&metadata), architecture_(architecture) {}

  const gguf::Metadata* metadata_;
  std::string architecture_;
};

// Of the tokenizer in the file, or of the key vocab_size.
Result<int> read_vocabulary_count(const ArchitectureKeys& keys);

// Positions that were stretched after training turn by other angles; better refused than wrong.
Status refuse_stretched_positions(const ArchitectureKeys& keys);

// Heads that share a row of `width` evenly, each with keys and values of its own; `count_key` says
// how many.
Result<AttentionShape> read_even_heads(const ArchitectureKeys& keys, std::string_view count_key,
                                       int width, int head_width_max);

// What every causal network has.
struct TrunkKeys {
  int layer_count =
      0;  // of the trunk; layers for speculative decoding stored behind it are not ours
  int width = 0;
  int vocabulary_count = 0;
  int positions_max = 0;
  float epsilon = 0;  // of all RMS norms
};
Result<TrunkKeys> read_trunk_keys(const ArchitectureKeys& keys);

BackboneTraits traits_of(const ArchitectureKeys& keys, const TrunkKeys& trunk,
                         const MemoryShape& memory);

}  // namespace adjudge
