// Recorded answers of laya, on every instruction set of this machine. The reference takes the GELU
// from a table, so its answers are up to 1.7e-3 from exact ones; somebody else's evaluation in
// double precision is there to hold us to 2e-5.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "decide/check.h"
#include "protocol/systemone.h"
#include "support/support.h"

namespace adjudge {
namespace {

constexpr double kTableLimit = 3e-3;
constexpr double kExactLimit = 2e-5;

// A null level, which we refuse.
bool departs(const std::string& id) { return id.starts_with("score_odd_levels"); }

// A scale of one level is refused by the reference, and answered here.
CheckOutcome expected_outcome(const json::Value& line, const std::string& model) {
  if (line.find("model")->text != model) return CheckOutcome::other_model;
  if (line.find("status")->text == "200") return CheckOutcome::compared;
  const std::string& id = line.find("id")->text;
  const bool one_level = id.starts_with("err_score_size") || id.starts_with("err_second");
  return one_level ? CheckOutcome::answered : CheckOutcome::refused;
}

std::unique_ptr<Model> open(const std::string& name, Runtime& runtime, const std::string& isa) {
  auto model =
      Model::open(testing::tiny_model(name), runtime, {.precision = Precision::f32, .isa = isa});
  if (!model.ok()) ADD_FAILURE() << model.error().message();
  return std::move(model).value();
}

// Checks all lines of a file recorded from `model`; how many had answers to compare.
int check_lines(const Model& model, const std::string& recorded, const std::string& against) {
  CheckOptions options;
  options.compile.faithful = true;
  options.against = against;
  int compared = 0;
  for (const json::Value& line : testing::golden_lines(recorded)) {
    if (departs(line.find("id")->text)) continue;
    const CheckedLine result = check_line(model, line, options).value();
    EXPECT_EQ(result.outcome, expected_outcome(line, model.file().name()))
        << result.id << ": " << result.place;
    EXPECT_LE(result.difference, kTableLimit) << result.id << ": " << result.place;
    compared += result.outcome == CheckOutcome::compared;
  }
  return compared;
}

class EncoderGolden : public ::testing::TestWithParam<int> {
 protected:
  const std::string level_ = kernel::available_levels().names[GetParam()];
  Runtime runtime_{{.thread_count = 1}};
};

TEST_P(EncoderGolden, AnswersAsRecorded) {
  EXPECT_GE(check_lines(*open("tiny-laya-f32", runtime_, level_), "laya", "response"), 50);
  // Requests of our own: many options, long ones, long states, markers everywhere.
  EXPECT_GE(check_lines(*open("tiny-laya-f32", runtime_, level_), "laya.more", "response"), 15);
  EXPECT_GE(check_lines(*open("tiny-julia-f32", runtime_, level_), "julia", "response"), 15);
}

TEST_P(EncoderGolden, AnswersFromQuantisedFilesAsFromTheirValues) {
  for (const std::string type : {"bf16", "f16", "q8_0", "q4_K"}) {
    const auto model = open("tiny-laya-wide-" + type, runtime_, level_);
    EXPECT_EQ(check_lines(*model, "laya.quant", "response_dequantised"), 7) << type;
  }
}

TEST_P(EncoderGolden, LayaIsExact) {
  std::map<std::string, std::string> bodies;
  for (const json::Value& line : testing::golden_lines("laya")) {
    bodies[line.find("id")->text] = line.find("body")->text;
  }
  const auto model = open("tiny-laya-f32", runtime_, level_);
  DecideOptions options;
  options.compile.faithful = true;
  int compared = 0;
  for (const json::Value& line : testing::golden_lines("laya.double")) {
    const std::string id = line.find("id")->text;
    if (departs(id)) continue;
    const Request request = parse_systemone(bodies.at(id), {}).value();
    const auto responses = decide(*model, std::span(&request, 1), options);
    ASSERT_TRUE(responses[0].ok()) << id;
    const auto& answers = responses[0].value().answers;
    const auto answer = std::ranges::find(answers, line.find("question")->text, &Answer::id);
    const std::vector<json::Value>& exact = line.find("probabilities")->items;
    ASSERT_EQ(answer->probabilities.size(), exact.size()) << id;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      EXPECT_NEAR(answer->probabilities[i], exact[i].real, kExactLimit) << id << " " << answer->id;
    }
    ++compared;
  }
  EXPECT_GT(compared, 50);
}

INSTANTIATE_TEST_SUITE_P(Levels, EncoderGolden,
                         ::testing::Range(0, kernel::available_levels().count),
                         [](const auto& level) {
                           return kernel::available_levels().names[level.param];
                         });

}  // namespace
}  // namespace adjudge
