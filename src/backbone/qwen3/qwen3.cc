// Qwen3: attention whose queries and keys are normed per head, then turned; SwiGLU.
// Reference: qwen3.cpp of llama.cpp.
#include "backbone/dense_trunk.h"
#include "backbone/registry.h"

namespace adjudge {

namespace {

constexpr AttentionExtras kExtras{.biases = false, .head_norms = true};

}  // namespace

BackboneEntry qwen3_backbone() {
  return {.name = "qwen3",
          .claims = [](std::string_view architecture) { return architecture == "qwen3"; },
          .open =
              [](const gguf::Metadata& metadata, const NetContext& net,
                 const BackboneOptions& options) {
                return DenseTrunk::open(metadata, net, options, kExtras);
              },
          .read_traits = DenseTrunk::read_traits};
}

}  // namespace adjudge
