// Small random networks of every architecture, for tests: metadata, and weights that follow from
// their tensor's name. Odd sizes on purpose: several value heads per key head, heads that do not
// fill the width, rows that are no multiple of a vector.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gguf/metadata.h"
#include "nn/weight_source.h"

namespace adjudge::testing {

// Any tensor one asks for. Rows of a fused tensor are those of its parts: (name, rows) in order.
class BellWeights final : public WeightSource {
 public:
  using Parts = std::vector<std::pair<std::string, int>>;

  void fuse(const std::string& name, Parts parts) { fused_[name] = std::move(parts); }
  // From here on this tensor is missing.
  void lose(const std::string& name) { lost_ = name; }

  Result<Matrix> matrix(std::string_view name, int rows, int columns) override;
  Result<std::vector<Matrix>> matrices(std::string_view name, int count, int rows,
                                       int columns) override;
  bool has(std::string_view name) const override { return fused_.contains(std::string(name)); }
  Result<std::span<const float>> vector(std::string_view name, int count) override;
  const std::byte* acquire(const Matrix& matrix, int begin, int count) const override;
  void release(const Matrix&, int, int) const override {}
  std::size_t bytes() const override { return 0; }

 private:
  Status check(std::string_view name) const;
  Matrix add(const std::string& name, int rows, int columns);

  std::map<std::string, Parts> fused_;
  std::string lost_;
  std::vector<std::vector<float>> matrices_;  // by handle
  std::map<std::string, std::vector<float>> vectors_;
};

struct Sample {
  std::string name;
  gguf::Metadata metadata;
  // What fuse() takes for a file of this network that fuses what may be fused.
  std::map<std::string, BellWeights::Parts> fusible;
};

// At least one per architecture: causal networks, and those whose rows see the whole sequence.
const std::vector<Sample>& samples();
const std::vector<Sample>& encoder_samples();
// The key's value replaced, or added.
gguf::Metadata with(const gguf::Metadata& metadata, std::string_view key, gguf::MetaValue value);
gguf::Metadata without(const gguf::Metadata& metadata, std::string_view key);

}  // namespace adjudge::testing
