// What a sequence leaves in a causal network: keys and values of its attention layers, state and
// convolution taps of its recurrent ones. It holds its own positions only and reads those before
// them in its ancestors, so a fork copies nothing.
#pragma once

#include <memory>
#include <vector>

#include "backbone/backbone.h"
#include "base/aligned.h"
#include "base/spare_arrays.h"
#include "nn/attention.h"

namespace adjudge {

// Sizes of what each layer keeps. Layers are counted per sort: the first attention layer of the
// network is attention layer 0, the first recurrent one recurrent layer 0.
struct MemoryShape {
  int attention_layer_count = 0;
  int key_value_width = 0;  // of a row of keys, and of a row of values
  int recurrent_layer_count = 0;
  std::size_t state_floats = 0;  // of one layer
  int tap_count = 0;             // rows of history the convolution looks back on
  int tap_width = 0;

  std::size_t bytes_per_token() const;
  std::size_t bytes_fixed() const;
};

class SequenceMemory final : public Memory {
 public:
  // `spares`: where recurrent parts come from and go to.
  SequenceMemory(const MemoryShape& shape, const MemoryOptions& options,
                 std::shared_ptr<SpareArrays> spares);
  ~SequenceMemory() override;

  int length() const override { return begin() + count_; }
  std::size_t bytes() const override { return key_values_.bytes() + recurrence_.bytes(); }
  std::vector<std::span<const std::byte>> contents() const override;
  bool fill(std::span<const std::byte> contents) override;

  // The position of the first own token.
  int begin() const { return parent_ == nullptr ? 0 : parent_->length(); }
  int own_count() const { return count_; }
  int room() const { return count_max_ - count_; }
  bool continued() const { return continued_; }
  // Whether anything evaluated later reads what the last layer leaves here.
  bool awaits_more() const { return continued_ || room() > 0; }

  // Takes `count` more tokens: lengths are final from here on, contents follow layer by layer.
  void take(int count);

  // Rows of (own positions, key_value_width).
  float* keys(int attention_layer) { return key_values_.data() + offset_of(attention_layer, 0); }
  float* values(int attention_layer) { return key_values_.data() + offset_of(attention_layer, 1); }
  // Appends the runs of all ancestors and the first `own_count` positions of its own.
  void append_runs(int attention_layer, int own_count, std::vector<KeyValueRun>& runs) const;

  // The memory whose recurrent part the next token starts from: this one, the nearest ancestor that
  // has seen a token, or null at the start of a sequence.
  const SequenceMemory* recurrence_before() const;
  float* state(int recurrent_layer) { return recurrence_.data() + state_offset(recurrent_layer); }
  const float* state(int recurrent_layer) const {
    return recurrence_.data() + state_offset(recurrent_layer);
  }
  // (tap_count, tap_width), oldest first.
  float* taps(int recurrent_layer) { return state(recurrent_layer) + shape_.state_floats; }
  const float* taps(int recurrent_layer) const {
    return state(recurrent_layer) + shape_.state_floats;
  }

 private:
  std::size_t offset_of(int attention_layer, int part) const;
  std::size_t state_offset(int recurrent_layer) const;

  const MemoryShape shape_;
  const std::shared_ptr<const SequenceMemory> parent_;
  const int count_max_;
  const bool continued_;
  const std::shared_ptr<SpareArrays> spares_;
  int count_ = 0;
  Aligned<float> key_values_;  // (attention layers, keys then values, count_max, key_value_width)
  Aligned<float> recurrence_;  // (recurrent layers, state then taps); empty until somebody needs it
};

}  // namespace adjudge
