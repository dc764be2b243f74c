#include "readout/pointer.h"

#include <cmath>

#include "readout/test_head.h"

namespace adjudge {
namespace {

using namespace testing;

constexpr int kHidden = 64;
constexpr int kOutputCount = 32;  // queries and keys of 16
constexpr int kPointerWidth = kOutputCount / 2;

const std::vector<float>& weight() {
  static const std::vector<float> values = bell("weight", kHidden * kOutputCount);
  return values;
}
const std::vector<float>& bias() {
  static const std::vector<float> values = bell("bias", kOutputCount);
  return values;
}

GgufWriter file() {
  GgufWriter writer("qwen35");
  writer.tensor("cls.output.weight", {kHidden, kOutputCount}, weight());
  writer.tensor("cls.output.bias", {kOutputCount}, bias());
  return writer;
}

std::vector<double> read(TestHead& head, const HiddenRows& rows) {
  const auto opened = open_pointer_head(head.weights(), kOutputCount, kHidden);
  EXPECT_TRUE(opened.ok());
  return PointerReadout(opened.value()).logits(head.net(), rows).value();
}

// The same in double precision, row by row.
double exact_logit(const HiddenRows& rows, int option) {
  const auto project = [&](int row, int output) {
    return exact_dot(weight(), output, rows.row(row)) + static_cast<double>(bias()[at(output)]);
  };
  double dot = 0;
  for (int i = 0; i < kPointerWidth; ++i) {
    dot += project(rows.count() - 1, i) * project(option, kPointerWidth + i);
  }
  return dot / std::sqrt(kPointerWidth);
}

TEST(PointerReadout, EqualsItsDoublePrecisionTwin) {
  TestHead head(file());
  const HiddenRows rows = rows_of(bell("rows", 6 * kHidden), kHidden);
  const std::vector<double> logits = read(head, rows);
  ASSERT_EQ(logits.size(), 5u);
  for (int option = 0; option < 5; ++option) {
    EXPECT_NEAR(logits[at(option)], exact_logit(rows, option),
                1e-5 * std::abs(exact_logit(rows, option)) + 1e-4);
  }
}

TEST(PointerReadout, CompanyDoesNotChangeALogit) {
  TestHead head(file());
  const std::vector<float> values = bell("rows", 40 * kHidden);
  const std::vector<double> among = read(head, rows_of(values, kHidden));
  for (int option = 0; option < 39; ++option) {
    std::vector<float> alone(values.begin() + option * kHidden,
                             values.begin() + (option + 1) * kHidden);
    alone.insert(alone.end(), values.end() - kHidden, values.end());
    EXPECT_EQ(read(head, rows_of(alone, kHidden))[0], among[at(option)]);
  }
}

TEST(PointerReadout, AMissingOrMisshapedHeadIsNamed) {
  GgufWriter without_bias("qwen35");
  without_bias.tensor("cls.output.weight", {kHidden, kOutputCount}, weight());
  TestHead head(without_bias);
  const auto missing = open_pointer_head(head.weights(), kOutputCount, kHidden);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().kind, ErrorKind::bad_model);
  EXPECT_NE(missing.error().message().find("cls.output.bias"), std::string::npos);

  const auto misshaped = open_pointer_head(head.weights(), kOutputCount, kHidden * 2);
  ASSERT_FALSE(misshaped.ok());
  EXPECT_EQ(misshaped.error().kind, ErrorKind::bad_model);
  EXPECT_NE(misshaped.error().message().find("cls.output.weight"), std::string::npos);
}

}  // namespace
}  // namespace adjudge
