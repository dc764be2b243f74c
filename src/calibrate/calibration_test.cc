#include "calibrate/calibration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/size.h"
#include "support/support.h"

namespace adjudge {
namespace {

using Values = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

gguf::Metadata metadata_with(
    const std::vector<std::pair<std::string, gguf::MetaValue>>& temperatures) {
  gguf::Metadata metadata;
  metadata.add("general.architecture", std::string_view("qwen35"));
  for (const auto& [name, value] : temperatures) {
    metadata.add("qwen35.decision.temperature." + name, value);
  }
  return metadata;
}

void expect_near(const Values& found, const Values& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], tolerance);
}

TEST(Temperature, IsOneWhereTheModelNamesNone) {
  const Calibration calibration = read_calibration(metadata_with({}), BucketScheme::counts).value();
  EXPECT_EQ(calibration.temperature(QuestionKind::noul, 2), 1);
}

TEST(Temperature, OfABucketWinsOverTheOneOfTheKind) {
  const Calibration calibration =
      read_calibration(metadata_with({{"choice", 2.0}, {"choice.3_5", 3.0}, {"score.11", 4.0}}),
                       BucketScheme::counts)
          .value();
  EXPECT_EQ(calibration.temperature(QuestionKind::choice, 4), 3);
  EXPECT_EQ(calibration.temperature(QuestionKind::choice, 6), 2);
  EXPECT_EQ(calibration.temperature(QuestionKind::score, 10), 1);
  EXPECT_EQ(calibration.temperature(QuestionKind::score, 11), 4);
}

TEST(Temperature, CutsBucketsWhereEachSchemeDoes) {
  const auto metadata = metadata_with({{"choice.2", 2.0},
                                       {"choice.3_5", 5.0},
                                       {"choice.6_10", 10.0},
                                       {"choice.11", 11.0},
                                       {"choice.small", 8.0},
                                       {"choice.mid", 26.0},
                                       {"choice.large", 27.0}});
  const auto counts = read_calibration(metadata, BucketScheme::counts).value();
  const auto sizes = read_calibration(metadata, BucketScheme::sizes).value();
  for (const auto& [count, expected] :
       {std::pair{1, 2.0}, {2, 2.0}, {3, 5.0}, {5, 5.0}, {6, 10.0}, {10, 10.0}, {11, 11.0}}) {
    EXPECT_EQ(counts.temperature(QuestionKind::choice, count), expected) << count;
  }
  for (const auto& [count, expected] :
       {std::pair{1, 8.0}, {8, 8.0}, {9, 26.0}, {26, 26.0}, {27, 27.0}, {255, 27.0}}) {
    EXPECT_EQ(sizes.temperature(QuestionKind::choice, count), expected) << count;
  }
}

TEST(Temperature, MayBeAnyKindOfNumber) {
  const Calibration calibration =
      read_calibration(
          metadata_with({{"noul", std::int64_t{2}}, {"score", std::uint64_t{3}}, {"choice", 0.5}}),
          BucketScheme::counts)
          .value();
  EXPECT_EQ(calibration.temperature(QuestionKind::noul, 2), 2);
  EXPECT_EQ(calibration.temperature(QuestionKind::score, 5), 3);
  EXPECT_EQ(calibration.temperature(QuestionKind::choice, 5), 0.5);
}

TEST(Temperature, IsRefusedWhereItCannotDivide) {
  for (const gguf::MetaValue& value :
       {gguf::MetaValue{0.0}, gguf::MetaValue{-1.5}, gguf::MetaValue{kInfinity},
        gguf::MetaValue{std::nan("")}, gguf::MetaValue{std::int64_t{0}},
        gguf::MetaValue{std::string_view("hot")}, gguf::MetaValue{true}}) {
    const auto read = read_calibration(metadata_with({{"noul", value}}), BucketScheme::counts);
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().kind, ErrorKind::bad_model);
    EXPECT_NE(read.error().message().find("qwen35.decision.temperature.noul"), std::string::npos);
  }
  const auto read = read_calibration(metadata_with({{"noul", -1.5}}), BucketScheme::counts);
  EXPECT_NE(read.error().message().find("-1.5"), std::string::npos);
}

TEST(Temperature, NeedsTheArchitectureThatItsKeysStartWith) {
  const auto read = read_calibration({}, BucketScheme::counts);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().kind, ErrorKind::bad_model);
}

TEST(Bias, OfACountWinsAndTheOneOfAKindMustFit) {
  Calibration calibration;
  calibration.biases = {{"noul", {0.1, 0.2}}, {"score.3", {1, 2, 3}}, {"score", {4, 5}}};
  EXPECT_EQ(*calibration.bias(QuestionKind::noul, 2), (Values{0.1, 0.2}));
  EXPECT_EQ(*calibration.bias(QuestionKind::score, 3), (Values{1, 2, 3}));
  EXPECT_EQ(*calibration.bias(QuestionKind::score, 2), (Values{4, 5}));
  EXPECT_EQ(calibration.bias(QuestionKind::score, 5), nullptr);
  EXPECT_EQ(calibration.bias(QuestionKind::choice, 2), nullptr);
}

TEST(Softmax, GivesTheWorkedProbabilities) {
  expect_near(softmax(Values{2, 1, -1}, 0.85).value(), {0.747559, 0.230521, 0.021920}, 5e-7);
  expect_near(softmax(Values{0, 1.5, 1, -2}, 1).value(), {0.119972, 0.537675, 0.326117, 0.016236},
              5e-7);
  EXPECT_NEAR(softmax(Values{1, -0.5}, 0.85).value()[0], 0.853798, 5e-7);
  EXPECT_NEAR(softmax(Values{1, -0.5}, 1.5547129).value()[0], 0.724083, 5e-7);
  EXPECT_NEAR(expected_level(softmax(Values{0, 0, 0, 0, 0, 1, 2, 3, 4}, 1).value()) / 8, 0.898349,
              5e-7);
}

TEST(Softmax, OfTwoOrdersAveragesToTheWorkedProbabilities) {
  const Values given = softmax(Values{1, 0.2}, 1).value();
  const Values reversed = softmax(Values{0.9, 0.4}, 1).value();
  EXPECT_NEAR((given[0] + reversed[1]) / 2, 0.533758, 5e-7);
}

TEST(Softmax, DoesNotOverflow) {
  expect_near(softmax(Values{1e308, -1e308, 1e308}, 1e-300).value(), {0.5, 0, 0.5}, 0);
  EXPECT_EQ(softmax(Values{-7}, 3).value(), Values{1});
}

TEST(Softmax, RefusesWhatIsNotFinite) {
  for (const double odd : {std::nan(""), kInfinity, -kInfinity}) {
    const auto refused = softmax(Values{0, odd}, 1);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().kind, ErrorKind::bad_model);
  }
}

TEST(ChoiceConfidence, GivesThePublishedValues) {
  EXPECT_NEAR(choice_confidence(Values{0.88, 0.12}), 0.76, 1e-12);
  EXPECT_NEAR(choice_confidence(Values{0.86, 0.14, 0}), 0.79, 1e-12);
  EXPECT_NEAR(choice_confidence(Values{0.9355, 0.0222, 0.0423}), 0.9033, 5e-5);
  EXPECT_NEAR(choice_confidence(Values{0.8, 0.1, 0.1}), 0.7, 1e-12);
  EXPECT_NEAR(choice_confidence(Values{0.747559, 0.230521, 0.021920}), 0.621338, 1e-6);
  EXPECT_EQ(choice_confidence(Values{0.5, 0.5}), 0);
  EXPECT_EQ(choice_confidence(Values{0.3, 0.3, 0.3}), 0);  // rounded below uniform
  EXPECT_EQ(choice_confidence(Values{1}), 1);
  EXPECT_EQ(choice_confidence(Values{0, 1, 0}), 1);
}

TEST(ScoreConfidence, GivesThePublishedValues) {
  EXPECT_NEAR(score_confidence(Values{0, 0.95, 0.05}), 0.925, 1e-12);
  EXPECT_NEAR(score_confidence(Values{0.0023, 0.116, 0.6753, 0.2064}), 0.673, 5e-4);
  EXPECT_NEAR(score_confidence(Values{0.119972, 0.537675, 0.326117, 0.016236}), 0.521439, 1e-6);
  EXPECT_NEAR(score_confidence(Values{0.1, 0.9}), 0.8, 1e-12);
  EXPECT_EQ(score_confidence(Values{0.3718, 0.2778, 0.1511, 0.1993}), 0);
  EXPECT_EQ(score_confidence(Values{0.25, 0.25, 0.25, 0.25}), 0);
  EXPECT_EQ(score_confidence(Values{0, 0, 0, 1}), 1);
  EXPECT_EQ(score_confidence(Values{1}), 1);
}

// With two levels both formulas say 2 m - 1, and the distance that a uniform distribution has is
// the published one for every count.
TEST(ScoreConfidence, MeasuresAgainstTheUniformDistanceOfEachCount) {
  const Values distances = {0.5, 0.666667, 1, 1.2, 1.5, 1.714286, 2, 2.222222, 2.5};
  for (int count = 2; count <= 10; ++count) {
    Values probabilities(at(count), 0.0);
    probabilities[0] = 0.75;
    probabilities[1] = 0.25;
    EXPECT_NEAR(score_confidence(probabilities), 1 - 0.25 / distances[at(count - 2)], 1e-6);
  }
  EXPECT_NEAR(score_confidence(Values{0.7, 0.3}), choice_confidence(Values{0.7, 0.3}), 1e-12);
}

TEST(FirstMaximum, IsTheFirstOfEquals) {
  EXPECT_EQ(first_maximum(Values{0.5, 0.5}), 0);
  EXPECT_EQ(first_maximum(Values{0.1, 0.4, 0.4, 0.1}), 1);
}

TEST(ExpectedLevel, WeighsLevelsByTheirIndex) {
  EXPECT_EQ(expected_level(Values{0, 0, 0, 1}), 3);
  EXPECT_EQ(expected_level(Values{0.25, 0.25, 0.25, 0.25}), 1.5);
  EXPECT_NEAR(expected_level(Values{0.1, 0.9}), 0.9, 1e-12);
  EXPECT_NEAR(expected_level(Values{0.119972, 0.537675, 0.326117, 0.016236}), 1.238618, 2e-6);
}

double number(const json::Value& value) {
  return value.type == json::Type::real ? value.real : std::stod(value.text);
}

Values probabilities_of(const json::Value& answer) {
  Values values;
  for (const auto& [key, value] : answer.find("probabilities")->members) {
    values.push_back(number(value));
  }
  return values;
}

// An independent implementation computed confidence, score and choice from the very probabilities
// that it printed.
TEST(Confidence, EqualsEveryRecordedOne) {
  int answer_count = 0;
  for (const char* name : {"openjev", "openjev-moe", "openjev-qwen3", "lev", "nimble",
                           "nimble-qwen3", "kev", "lev.quant", "kev.quant"}) {
    for (const json::Value& line : testing::golden_lines(name)) {
      const json::Value* answers = line.find("response")->find("answers");
      if (answers == nullptr) continue;
      for (const auto& [id, answer] : answers->members) {
        const std::string& type = answer.find("type")->text;
        if (type == "noul") continue;
        const Values probabilities = probabilities_of(answer);
        const double confidence =
            type == "choice" ? choice_confidence(probabilities) : score_confidence(probabilities);
        EXPECT_NEAR(confidence, number(*answer.find("confidence")), 1e-12) << name << " " << id;
        if (type == "score") {
          EXPECT_NEAR(expected_level(probabilities), number(*answer.find("score")), 1e-12);
        } else {
          EXPECT_EQ(answer.find("probabilities")->members[at(first_maximum(probabilities))].key,
                    answer.find("choice")->text);
        }
        ++answer_count;
      }
    }
  }
  EXPECT_GT(answer_count, 300);
}

}  // namespace
}  // namespace adjudge
