// What mixes positions in Qwen3.5, dense or with experts: gated delta nets with a gated attention
// every few layers. The keys say which layer is which; no pattern is assumed.
#pragma once

#include <variant>
#include <vector>

#include "backbone/attention_layer.h"
#include "backbone/causal_trunk.h"
#include "backbone/qwen35/delta_layer.h"

namespace adjudge {

struct HybridKeys {
  TrunkKeys trunk;
  AttentionSizes attention;
  DeltaSizes delta;
  std::vector<bool> recurrent;  // per layer
  int position_axes = 1;        // 3 when the file says how image positions are interleaved
};

Result<HybridKeys> read_hybrid_keys(const ArchitectureKeys& architecture);
MemoryShape memory_shape(const HybridKeys& keys);

class HybridMixer {
 public:
  static Result<HybridMixer> open(WeightSource& source, const HybridKeys& keys);

  std::size_t scratch() const;  // floats per row of a pass
  void apply(int layer, const LayerContext& context, const Rows& x, const Rows& out) const;

 private:
  struct Layer {
    std::variant<AttentionWeights, DeltaWeights> weights;
    int slot = 0;  // among the layers of its sort
  };
  explicit HybridMixer(const HybridKeys& keys) : keys_(keys) {}

  HybridKeys keys_;
  std::vector<Layer> layers_;
};

}  // namespace adjudge
