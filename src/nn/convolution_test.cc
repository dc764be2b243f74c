#include "nn/convolution.h"

#include "nn/nn_test.h"

namespace adjudge {
namespace {

constexpr int kChannels = 600;  // more than one slice
constexpr int kTaps = 4;
constexpr std::size_t kHistorySize = 3 * 600;

const std::vector<float>& filter() {
  static const std::vector<float> weight = testing::bell("taps", at(kChannels * kTaps));
  return weight;
}

TEST(ConvolveSilu, AgreesWithDoubleArithmetic) {
  TestNet net;
  const ConvolutionTaps taps(filter(), kTaps);
  const OwnedRows history("history", 3, kChannels);
  OwnedRows x("x", 6, kChannels, 2), out(6, kChannels, 1);
  for (const float* before : {history.row(0), static_cast<const float*>(nullptr)}) {
    const ConvolutionWork work{x.rows(), before, nullptr, out.rows()};
    convolve_silu(net.context, taps, std::span(&work, 1));
    for (int row = 0; row < 6; ++row) {
      for (int c = 0; c < kChannels; ++c) {
        double sum = 0;
        for (int t = 0; t < kTaps; ++t) {
          const int from = row - 3 + t;
          const float value = from >= 0           ? x.row(from)[c]
                              : before == nullptr ? 0.0f
                                                  : history.row(3 + from)[c];
          sum += wide(filter()[at(c * kTaps + t)]) * wide(value);
        }
        ASSERT_NEAR(wide(out.row(row)[c]), sum / (1 + std::exp(-sum)), 3e-6);
      }
    }
  }
  EXPECT_TRUE(out.gaps_untouched());
}

TEST(ConvolveSilu, GivesTheSameBitsHoweverAPromptIsCut) {
  const ConvolutionTaps taps(filter(), kTaps);
  OwnedRows x("x", 9, kChannels);
  std::vector<float> expected;
  for (const int threads : {1, 2, 3}) {
    TestNet net(threads);
    OwnedRows whole(9, kChannels), cut(9, kChannels);
    std::vector<float> last(kHistorySize), history(kHistorySize);
    const ConvolutionWork work{x.rows(), nullptr, last.data(), whole.rows()};
    convolve_silu(net.context, taps, std::span(&work, 1));
    // Works shorter than the history, which is passed on in place.
    const ConvolutionWork works[] = {
        {x.rows(0, 2), nullptr, history.data(), cut.rows(0, 2)},
        {x.rows(2, 1), history.data(), history.data(), cut.rows(2, 1)},
        {x.rows(3, 6), history.data(), history.data(), cut.rows(3, 6)}};
    convolve_silu(net.context, taps, works);
    if (threads == 1) expected = whole.values;
    EXPECT_EQ(whole.values, expected);
    EXPECT_EQ(cut.values, expected);
    EXPECT_EQ(history, last);
    EXPECT_EQ(last, std::vector<float>(x.row(6), x.row(6) + kHistorySize));
  }
}

}  // namespace
}  // namespace adjudge
