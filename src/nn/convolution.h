// Depthwise causal convolution over time followed by silu: the short memory before a delta rule.
#pragma once

#include <span>

#include "nn/matmul.h"

namespace adjudge {

inline constexpr int kTapCountMax = 8;  // 4 in every model we know

// Filter taps turned from the file's order, (channels, taps), so that channels lie side by side.
class ConvolutionTaps {
 public:
  ConvolutionTaps() = default;
  ConvolutionTaps(std::span<const float> weight, int tap_count);

  int tap_count() const { return tap_count_; }
  int channel_count() const { return channel_count_; }
  const float* data() const { return taps_.data(); }  // (taps, channels), oldest first

 private:
  int tap_count_ = 0;
  int channel_count_ = 0;
  Aligned<float> taps_;
};

// The history of a sequence is the tap_count - 1 input rows before its next one, oldest first.
struct ConvolutionWork {
  Rows x;                             // (rows, channels)
  const float* history_in = nullptr;  // (tap_count - 1, channels); null: zeros. Never written.
  float* history_out = nullptr;       // the same after the last row; null: nobody continues from it
  Rows out;                           // (rows, channels), not x
};

// out[i] = silu(sum over t of taps[t] * x[i - (tap_count - 1) + t]). Works in order: a later work's
// history_in may be an earlier one's history_out.
void convolve_silu(const NetContext& net, const ConvolutionTaps& taps,
                   std::span<const ConvolutionWork> works);

}  // namespace adjudge
