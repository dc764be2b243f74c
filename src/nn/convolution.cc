#include "nn/convolution.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/size.h"

namespace adjudge {

namespace {

// Channels of one task: a row's slice is 2 KiB, so the rows a tap looks back on stay in L1.
constexpr int kSliceChannels = 512;
// Tokens of one call of the kernel.
constexpr int kCallTokens = 16;

struct Slice {
  int begin;  // channels [begin, begin + count)
  int count;
};

// Input row `index` of the work, where rows before the first come from the history (zeros when
// there is none).
const float* input_row(const ConvolutionWork& work, int index, int history_count, int begin,
                       const float* zeros) {
  if (index >= 0) return work.x.row(index) + begin;
  if (work.history_in == nullptr) return zeros;
  return work.history_in + at(history_count + index) * at(work.x.width) + begin;
}

void convolve(const kernel::Table& kernels, const ConvolutionWork& work, const float* taps,
              int tap_count, const Slice& slice, const float* zeros) {
  const int history_count = tap_count - 1;
  const float* rows[kCallTokens + kTapCountMax - 1];
  for (int begin = 0; begin < work.x.count; begin += kCallTokens) {
    const int count = std::min(kCallTokens, work.x.count - begin);
    for (int i = 0; i < count + history_count; ++i) {
      rows[i] = input_row(work, begin - history_count + i, history_count, slice.begin, zeros);
    }
    kernels.convolve_silu(rows, taps, tap_count, count, slice.count,
                          work.out.row(begin) + slice.begin, work.out.stride);
  }
  for (int i = 0; work.history_out != nullptr && i < history_count; ++i) {
    const float* last =
        input_row(work, work.x.count - history_count + i, history_count, slice.begin, zeros);
    std::memmove(work.history_out + at(i) * at(work.x.width) + slice.begin, last,
                 at(slice.count) * sizeof(float));
  }
}

}  // namespace

ConvolutionTaps::ConvolutionTaps(std::span<const float> weight, int tap_count)
    : tap_count_(tap_count), channel_count_(count_of(weight) / tap_count), taps_(weight.size()) {
  CHECK(tap_count <= kTapCountMax && channel_count_ * tap_count == count_of(weight));
  for (int c = 0; c < channel_count_; ++c) {
    for (int t = 0; t < tap_count; ++t) {
      taps_[at(t * channel_count_ + c)] = weight[at(c * tap_count + t)];
    }
  }
}

void convolve_silu(const NetContext& net, const ConvolutionTaps& taps,
                   std::span<const ConvolutionWork> works) {
  const int channels = taps.channel_count();
  for (const ConvolutionWork& work : works) {
    CHECK(work.x.width == channels && work.out.width == channels && work.x.count == work.out.count);
  }
  const auto convolve_slice = [&](int index, int worker) {
    const int begin = index * kSliceChannels;
    const Slice slice{begin, std::min(kSliceChannels, channels - begin)};
    // The slice's taps side by side, and a row of zeros.
    float* own_taps = net.pool->scratch(worker, at(taps.tap_count() + 1) * kSliceChannels);
    for (int t = 0; t < taps.tap_count(); ++t) {
      std::memcpy(own_taps + t * slice.count, taps.data() + at(t) * at(channels) + begin,
                  at(slice.count) * sizeof(float));
    }
    float* zeros = own_taps + taps.tap_count() * slice.count;
    std::fill_n(zeros, slice.count, 0.0f);
    for (const ConvolutionWork& work : works) {
      convolve(*net.kernels, work, own_taps, taps.tap_count(), slice, zeros);
    }
  };
  net.pool->run((channels + kSliceChannels - 1) / kSliceChannels, convolve_slice);
}

}  // namespace adjudge
