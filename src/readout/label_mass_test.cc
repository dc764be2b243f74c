#include "readout/label_mass.h"

#include <cmath>

#include "readout/label.h"
#include "readout/test_head.h"

namespace adjudge {
namespace {

using namespace testing;

constexpr int kWidth = 96;
constexpr int kVocabularyCount = 50;

const std::vector<float>& weights() {
  static const std::vector<float> values = bell("output", kWidth * kVocabularyCount);
  return values;
}

GgufWriter file() {
  GgufWriter writer("qwen3");
  writer.tensor("output.weight", {kWidth, kVocabularyCount}, weights());
  return writer;
}

double exact_exp(int token, const std::vector<float>& row) {
  return std::exp(exact_dot(weights(), token, row));
}

// The mass of one group of labels, as decide finds it.
double mass_of(TestHead& head, const std::vector<Tokens>& groups, const std::vector<float>& row) {
  const LabelReadout readout(open_token_head(head.weights(), kVocabularyCount, kWidth).value(),
                             groups);
  const std::span<const float> rows[] = {row};
  return label_mass(readout.logits(head.net(), rows_of(row, kWidth)).value(),
                    vocabulary_log_sums(head.net(), *readout.vocabulary(), rows).front());
}

TEST(LabelMass, IsTheLabelsPartOfTheWholeVocabulary) {
  TestHead head(file());
  const std::vector<float> row = bell("row", kWidth);
  double all = 0;
  for (int token = 0; token < kVocabularyCount; ++token) all += exact_exp(token, row);
  const double labels = exact_exp(3, row) + exact_exp(4, row) + exact_exp(9, row);
  EXPECT_NEAR(mass_of(head, {{3, 4}, {9}}, row), labels / all, 1e-5);
}

TEST(LabelMass, EveryTokenTogetherIsOneAndNeverMore) {
  TestHead head(file());
  std::vector<Tokens> groups;
  for (int token = 0; token < kVocabularyCount; ++token) groups.push_back({token});
  for (const char* seed : {"a", "b", "c", "d"}) {
    const double mass = mass_of(head, groups, bell(seed, kWidth));
    EXPECT_NEAR(mass, 1.0, 1e-12);
    EXPECT_LE(mass, 1.0);
  }
}

TEST(LabelMass, HugeLogitsDoNotOverflow) {
  const double logits[] = {9600.0, 9600.0};
  EXPECT_NEAR(label_mass(logits, 9600.0 + std::log(4.0)), 0.5, 1e-12);
}

TEST(LabelMass, CompanyDoesNotChangeASum) {
  TestHead head(file());
  const Matrix matrix = open_token_head(head.weights(), kVocabularyCount, kWidth).value();
  const std::vector<float> values = bell("rows", 60 * kWidth);  // more than go together
  std::vector<std::span<const float>> rows;
  for (int i = 0; i < 60; ++i) {
    rows.push_back(std::span<const float>(values).subspan(at(i) * kWidth, kWidth));
  }
  const std::vector<double> among = vocabulary_log_sums(head.net(), matrix, rows);
  ASSERT_EQ(among.size(), rows.size());
  for (int i = 0; i < 60; ++i) {
    const auto alone = vocabulary_log_sums(head.net(), matrix, std::span(rows).subspan(at(i), 1));
    EXPECT_EQ(alone.front(), among[at(i)]);
  }
}

}  // namespace
}  // namespace adjudge
