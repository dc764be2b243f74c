// Qwen2 and Qwen2.5: attention with biases on queries, keys and values; SwiGLU.
// Reference: qwen2.cpp of llama.cpp.
#include "backbone/dense_trunk.h"
#include "backbone/registry.h"

namespace adjudge {

namespace {

constexpr AttentionExtras kExtras{.biases = true, .head_norms = false};

}  // namespace

BackboneEntry qwen2_backbone() {
  return {.name = "qwen2",
          .claims = [](std::string_view architecture) { return architecture == "qwen2"; },
          .open =
              [](const gguf::Metadata& metadata, const NetContext& net,
                 const BackboneOptions& options) {
                return DenseTrunk::open(metadata, net, options, kExtras);
              },
          .read_traits = DenseTrunk::read_traits};
}

}  // namespace adjudge
