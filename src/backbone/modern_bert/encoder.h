// ModernBERT as it runs: every row of a sequence sees the whole sequence, or in some layers a
// window around itself. Sequences of one pass lie side by side without padding.
// Reference: modern-bert.cpp of llama.cpp; the GELU is exact here, where that one reads a table.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backbone/backbone.h"
#include "backbone/registry.h"
#include "backbone/scratch.h"
#include "nn/attention.h"
#include "nn/rotary.h"
#include "nn/rows.h"

namespace adjudge {

enum class Gate { gelu, silu };

struct EncoderLayer {
  std::span<const float> attention_norm;  // (width); empty: the first layer may have none
  Matrix query, key, value;               // (width, width)
  Matrix output;                          // (width, width)
  std::span<const float> feed_norm;       // (width)
  Matrix gate, up;                        // (inner, width)
  Matrix down;                            // (width, inner)
  Rotary rotary;
  int window = 0;  // rows nearer than this are seen; 0: all
};

struct EncoderParts {
  BackboneTraits traits;
  AttentionShape shape;
  Gate activation = Gate::gelu;
  float epsilon = 0;                                   // of all norms
  int inner_max = 0;                                   // the widest feed-forward part
  Matrix embedding;                                    // (vocabulary_count, width)
  std::span<const float> embedding_norm, output_norm;  // (width)
  std::vector<EncoderLayer> layers;
};

class Encoder final : public Backbone {
 public:
  Encoder(EncoderParts parts, const NetContext& net, const BackboneOptions& options);

  const BackboneTraits& traits() const override { return parts_.traits; }
  std::unique_ptr<Memory> begin(const MemoryOptions& options) const override;
  Status extend(std::span<const Work> works, std::stop_token stop) const override;
  int rows_max() const override { return rows_max_; }
  // A sequence over rows_max makes the scratch grow, and it is kept.
  std::size_t scratch_bytes() const override;

 private:
  // The rows of one work.
  struct Sequence {
    int begin = 0;
    int count = 0;
  };

  Status check(const Work& work) const;
  Status place(std::span<const Work> works) const;
  void embed(std::span<const Work> works, const Rows& x) const;
  void attend_within(const EncoderLayer& layer, const Rows& x, const Rows& normed,
                     const Rows& added) const;
  void feed(const EncoderLayer& layer, const Rows& x, const Rows& normed, const Rows& added) const;
  void hand_out(std::span<const Work> works, const Rows& x) const;

  const EncoderParts parts_;
  const NetContext net_;
  const int rows_max_;
  const std::size_t row_floats_;  // scratch of one row

  // Working memory of the pass under way; one thread uses a backbone at a time.
  mutable Scratch scratch_;
  mutable std::vector<Sequence> sequences_;
  mutable std::vector<int> positions_;
  mutable std::vector<KeyValueRun> runs_;
  mutable std::vector<AttentionWork> attention_;
  mutable Rotator rotator_;
};

}  // namespace adjudge
