#include "readout/label.h"

#include <cmath>

#include "readout/test_head.h"

namespace adjudge {
namespace {

using namespace testing;

constexpr int kWidth = 96;
constexpr int kVocabularyCount = 50;

std::vector<float> matrix(const char* seed) { return bell(seed, kWidth * kVocabularyCount); }

GgufWriter file_with(const char* name, const std::vector<float>& values) {
  GgufWriter writer("qwen3");
  writer.tensor(name, {kWidth, kVocabularyCount}, values);
  return writer;
}

std::vector<double> read(TestHead& head, const std::vector<Tokens>& groups,
                         const std::vector<float>& row) {
  auto weight = open_token_head(head.weights(), kVocabularyCount, kWidth);
  EXPECT_TRUE(weight.ok());
  auto logits = LabelReadout(weight.value(), groups).logits(head.net(), rows_of(row, kWidth));
  EXPECT_TRUE(logits.ok());
  return logits.value();
}

TEST(LabelReadout, ALogitIsTheProductWithTheLabelsRow) {
  const std::vector<float> weights = matrix("output");
  const std::vector<float> row = bell("row", kWidth);
  TestHead head(file_with("output.weight", weights));
  const std::vector<double> logits = read(head, {{7}, {49}, {0}}, row);
  ASSERT_EQ(logits.size(), 3u);
  EXPECT_NEAR(logits[0], exact_dot(weights, 7, row), 1e-4);
  EXPECT_NEAR(logits[1], exact_dot(weights, 49, row), 1e-4);
  EXPECT_NEAR(logits[2], exact_dot(weights, 0, row), 1e-4);
}

TEST(LabelReadout, WaysOfWritingALabelAddTheirProbabilities) {
  const std::vector<float> weights = matrix("output");
  const std::vector<float> row = bell("row", kWidth);
  TestHead head(file_with("output.weight", weights));
  const std::vector<double> logits = read(head, {{3, 4, 5}, {9}}, row);
  const double mass = std::exp(exact_dot(weights, 3, row)) + std::exp(exact_dot(weights, 4, row)) +
                      std::exp(exact_dot(weights, 5, row));
  EXPECT_NEAR(logits[0], std::log(mass), 1e-4);
  EXPECT_NEAR(logits[1], exact_dot(weights, 9, row), 1e-4);
}

TEST(LabelReadout, HugeLogitsDoNotOverflow) {
  std::vector<float> weights(kWidth * kVocabularyCount, 100.0f);
  TestHead head(file_with("output.weight", weights));
  const std::vector<double> logits = read(head, {{1, 2}}, std::vector<float>(kWidth, 1.0f));
  EXPECT_NEAR(logits[0], 9600.0 + std::log(2.0), 1e-6);
}

TEST(LabelReadout, CompanyDoesNotChangeALogit) {
  TestHead head(file_with("output.weight", matrix("output")));
  const std::vector<float> row = bell("row", kWidth);
  std::vector<Tokens> groups;
  for (int token = 0; token < kVocabularyCount; ++token) groups.push_back({token});
  const std::vector<double> among = read(head, groups, row);
  for (int token = 0; token < kVocabularyCount; ++token) {
    EXPECT_EQ(read(head, {{token}}, row)[0], among[at(token)]);
  }
}

TEST(LabelReadout, TheEmbeddingIsTheHeadWhereTheyAreTied) {
  const std::vector<float> row = bell("row", kWidth);
  const std::vector<float> embedding = matrix("embedding");
  TestHead tied(file_with("token_embd.weight", embedding));
  EXPECT_NEAR(read(tied, {{5}}, row)[0], exact_dot(embedding, 5, row), 1e-4);

  const std::vector<float> output = matrix("output");
  GgufWriter writer = file_with("token_embd.weight", embedding);
  TestHead untied(writer.tensor("output.weight", {kWidth, kVocabularyCount}, output));
  EXPECT_NEAR(read(untied, {{5}}, row)[0], exact_dot(output, 5, row), 1e-4);
}

TEST(LabelReadout, AMissingOrMisshapedHeadIsNamed) {
  TestHead missing(file_with("other.weight", matrix("other")));
  const auto none = open_token_head(missing.weights(), kVocabularyCount, kWidth);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().kind, ErrorKind::bad_model);
  EXPECT_NE(none.error().message().find("token_embd.weight"), std::string::npos);

  TestHead misshaped(file_with("output.weight", matrix("output")));
  const auto wrong = open_token_head(misshaped.weights(), kVocabularyCount + 1, kWidth);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().kind, ErrorKind::bad_model);
  EXPECT_NE(wrong.error().message().find("output.weight"), std::string::npos);
}

}  // namespace
}  // namespace adjudge
