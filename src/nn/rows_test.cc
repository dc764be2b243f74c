#include "nn/rows.h"

#include "nn/nn_test.h"

namespace adjudge {
namespace {

// Enough rows for several tasks.
constexpr int kRows = 70;
constexpr int kWidth = 512;

double rms_scale(const float* x, int count, double epsilon) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += wide(x[i]) * wide(x[i]);
  return 1 / std::sqrt(sum / count + epsilon);
}

// Expects rows to be value(row, index), within the rounding of a few operations.
template <class Value>
void expect_rows(const OwnedRows& found, const Value& value) {
  for (int row = 0; row < found.count; ++row) {
    for (int i = 0; i < found.width; ++i) {
      const double expected = value(row, i);
      ASSERT_NEAR(wide(found.row(row)[i]), expected, 2e-6 * (1 + std::abs(expected)))
          << row << " " << i;
    }
  }
  EXPECT_TRUE(found.gaps_untouched());
}

TEST(Rows, NormalisesEachRow) {
  TestNet net;
  OwnedRows x("x", kRows, kWidth, 1), out(kRows, kWidth, 2);
  const std::vector<float> weight = testing::bell("w", kWidth);
  rms_norm(net.context, x.rows(), weight, 1e-5f, out.rows());
  expect_rows(out, [&](int row, int i) {
    return wide(x.row(row)[i]) * rms_scale(x.row(row), kWidth, 1e-5) * wide(weight[at(i)]);
  });
}

TEST(Rows, NormalisesEachHead) {
  TestNet net;
  const OwnedRows before("x", kRows, kWidth, 1);
  OwnedRows rms = before, l2 = before;
  const std::vector<float> weight = testing::bell("w", 64);
  rms_norm_heads(net.context, rms.rows(), weight, 1e-5f);
  l2_norm_heads(net.context, l2.rows(), 64, 1e-5f);
  expect_rows(rms, [&](int row, int i) {
    const float* head = before.row(row) + i / 64 * 64;
    return wide(head[i % 64]) * rms_scale(head, 64, 1e-5) * wide(weight[at(i % 64)]);
  });
  expect_rows(l2, [&](int row, int i) {
    const float* head = before.row(row) + i / 64 * 64;
    return wide(head[i % 64]) * rms_scale(head, 64, 1e-5 / 64) / 8;
  });
}

TEST(Rows, CentresAndScalesEachRow) {
  TestNet net;
  OwnedRows x("x", kRows, kWidth, 1), out(kRows, kWidth, 2), plain(kRows, kWidth);
  const std::vector<float> weight = testing::bell("w", kWidth), bias = testing::bell("b", kWidth);
  layer_norm(net.context, x.rows(), weight, bias, 1e-5f, out.rows());
  layer_norm(net.context, x.rows(), weight, {}, 1e-5f, plain.rows());
  const auto normal = [&](int row, int i) {
    double mean = 0, variance = 0;
    for (int k = 0; k < kWidth; ++k) mean += wide(x.row(row)[k]) / kWidth;
    for (int k = 0; k < kWidth; ++k) variance += std::pow(wide(x.row(row)[k]) - mean, 2) / kWidth;
    return (wide(x.row(row)[i]) - mean) / std::sqrt(variance + 1e-5) * wide(weight[at(i)]);
  };
  expect_rows(out, [&](int row, int i) { return normal(row, i) + wide(bias[at(i)]); });
  expect_rows(plain, normal);
}

TEST(Rows, ActivatesByGeluAndRelu) {
  TestNet net;
  const OwnedRows x("x", kRows, kWidth, 1);
  OwnedRows y("y", kRows, kWidth, 3), smooth = x, gated = x, cut = x;
  gelu(net.context, smooth.rows());
  geglu(net.context, gated.rows(), y.rows());
  relu(net.context, cut.rows());
  const auto exact = [](float value) {
    return 0.5 * wide(value) * (1 + std::erf(wide(value) / std::sqrt(2.0)));
  };
  expect_rows(smooth, [&](int row, int i) { return exact(x.row(row)[i]); });
  expect_rows(gated, [&](int row, int i) { return exact(x.row(row)[i]) * wide(y.row(row)[i]); });
  expect_rows(cut, [&](int row, int i) { return std::max(0.0, wide(x.row(row)[i])); });
}

TEST(Rows, AddsAndGates) {
  TestNet net;
  const OwnedRows x("x", kRows, kWidth, 1);
  OwnedRows y("y", kRows, kWidth, 3), sum = x, biased = x, gated = x, activated = x;
  const std::vector<float> bias = testing::bell("bias", kWidth);
  add(net.context, sum.rows(), y.rows());
  add_bias(net.context, biased.rows(), bias);
  sigmoid_gate(net.context, gated.rows(), y.rows());
  swiglu(net.context, activated.rows(), y.rows());
  const auto sigmoid = [](float value) { return 1 / (1 + std::exp(-wide(value))); };
  expect_rows(sum, [&](int row, int i) { return wide(x.row(row)[i]) + wide(y.row(row)[i]); });
  expect_rows(biased, [&](int row, int i) { return wide(x.row(row)[i]) + wide(bias[at(i)]); });
  expect_rows(gated, [&](int row, int i) { return wide(x.row(row)[i]) * sigmoid(y.row(row)[i]); });
  expect_rows(activated, [&](int row, int i) {
    return wide(x.row(row)[i]) * sigmoid(x.row(row)[i]) * wide(y.row(row)[i]);
  });
}

TEST(Rows, GiveTheSameBitsAloneAndOnAnyNumberOfThreads) {
  const OwnedRows before("x", kRows, kWidth);
  const std::vector<float> weight = testing::bell("w", kWidth);
  std::vector<float> expected;
  for (const int threads : {1, 2, 3}) {
    TestNet net(threads);
    OwnedRows x = before, alone = before;
    rms_norm(net.context, x.rows(), weight, 1e-5f, x.rows());
    for (int row = 0; row < kRows; ++row) {
      rms_norm(net.context, alone.rows(row, 1), weight, 1e-5f, alone.rows(row, 1));
    }
    if (threads == 1) expected = x.values;
    EXPECT_EQ(x.values, expected);
    EXPECT_EQ(alone.values, expected);
  }
}

}  // namespace
}  // namespace adjudge
