// Every recorded answer of the reference implementation, on every instruction set of this machine:
// prompt ids equal, probabilities within the stated limit, what it refuses refused or answered as
// docs/protocol.md says.
#include <gtest/gtest.h>

#include <algorithm>

#include "decide/check.h"
#include "support/support.h"

namespace adjudge {
namespace {

// Limits of testdata/golden: f32 files against recorded answers, quantised files against the
// reference's answers on the same weights decoded to f32.
constexpr double kFloatLimit = 2e-5;
constexpr double kQuantisedLimit = 5e-5;

// Answers that rest on the reference's own treatment of special tokens in user text, of floats and
// of null levels.
const std::vector<std::string> kExceptions = {"special_", "state_float", "state_numbers",
                                              "score_odd_levels"};

// What the reference refuses and is answered here, as the hosted contract has it: a scale of one
// level, and more options than letters.
const std::vector<std::string> kAnsweredHere = {"err_score_size", "err_second", "choice60"};
// The other way round: a null level.
const std::vector<std::string> kRefusedHere = {"score_odd_levels"};

bool is_any(const std::string& id, const std::vector<std::string>& beginnings) {
  return std::ranges::any_of(beginnings, [&](const auto& text) { return id.starts_with(text); });
}

CheckOutcome expected_outcome(const json::Value& line, const std::string& model) {
  if (line.find("model")->text != model) return CheckOutcome::other_model;
  const std::string& id = line.find("id")->text;
  if (line.find("status")->text != "200") {
    return is_any(id, kAnsweredHere) ? CheckOutcome::answered : CheckOutcome::refused;
  }
  if (is_any(id, kRefusedHere)) return CheckOutcome::refused;
  return is_any(id, kExceptions) ? CheckOutcome::excepted : CheckOutcome::compared;
}

struct Case {
  std::string model;     // of testdata: tiny models
  std::string recorded;  // testdata/golden/<recorded>.jsonl
  std::string against;
  double limit;
  std::string isa;
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  const kernel::LevelNames levels = kernel::available_levels();
  for (int i = 0; i < levels.count; ++i) {
    for (const std::string family : {"openjev", "openjev-moe", "openjev-qwen3", "lev", "nimble",
                                     "nimble-qwen3", "kev", "clef"}) {
      cases.push_back(
          {"tiny-" + family + "-f32", family, "response", kFloatLimit, levels.names[i]});
      if (family == "nimble-qwen3") continue;
      for (const std::string type : {"bf16", "f16", "q8_0", "q4_K"}) {
        cases.push_back({"tiny-" + family + "-wide-" + type, family + ".quant",
                         "response_dequantised", kQuantisedLimit, levels.names[i]});
      }
    }
  }
  return cases;
}

class Golden : public ::testing::TestWithParam<Case> {};

TEST_P(Golden, AnswersAsRecorded) {
  const Case& golden = GetParam();
  Runtime runtime({.thread_count = 1});
  const auto model = Model::open(testing::tiny_model(golden.model), runtime,
                                 {.precision = Precision::f32, .isa = golden.isa});
  ASSERT_TRUE(model.ok()) << model.error().message();
  CheckOptions options;
  options.compile.faithful = true;
  options.against = golden.against;
  options.exceptions = kExceptions;
  int compared = 0;
  for (const json::Value& line : testing::golden_lines(golden.recorded)) {
    const auto checked = check_line(*model.value(), line, options);
    ASSERT_TRUE(checked.ok()) << checked.error().message();
    const CheckedLine& result = checked.value();
    EXPECT_EQ(result.outcome, expected_outcome(line, golden.model))
        << result.id << ": " << result.place;
    compared += result.outcome == CheckOutcome::compared;
    EXPECT_LE(result.difference, golden.limit) << result.id << ": " << result.place;
  }
  EXPECT_GE(compared, golden.limit == kFloatLimit ? 40 : 7);
}

std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  std::string name = info.param.model + "_" + info.param.isa;
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Recorded, Golden, ::testing::ValuesIn(all_cases()), name_of);

// Recorded from the same server beside the common requests: up to 255 options, long ones, many
// questions.
TEST(Golden, ManyAndLongOptionsAreAnsweredAsRecorded) {
  Runtime runtime({.thread_count = 1});
  const auto model =
      Model::open(testing::tiny_model("tiny-clef-f32"), runtime, {.precision = Precision::f32});
  ASSERT_TRUE(model.ok()) << model.error().message();
  CheckOptions options;
  options.compile.faithful = true;
  for (const json::Value& line : testing::golden_lines("clef.more")) {
    const auto checked = check_line(*model.value(), line, options);
    ASSERT_TRUE(checked.ok()) << checked.error().message();
    const CheckedLine& result = checked.value();
    const bool answered = line.find("status")->text == "200";
    EXPECT_EQ(result.outcome, answered ? CheckOutcome::compared : CheckOutcome::refused)
        << result.id << ": " << result.place;
    EXPECT_LE(result.difference, kFloatLimit) << result.id << ": " << result.place;
  }
}

// What a small server of the reference refuses for its context or batch, ours answers: it has
// neither limit here.
TEST(Golden, AnswersWhatOnlyASmallServerRefuses) {
  Runtime runtime({.thread_count = 1});
  for (const json::Value& line : testing::golden_lines("limits")) {
    const std::string name = line.find("model")->text;
    if (name.find("laya") != std::string::npos) continue;
    const auto model =
        Model::open(testing::tiny_model(name), runtime, {.precision = Precision::f32});
    ASSERT_TRUE(model.ok()) << model.error().message();
    CheckOptions options;
    options.compile.faithful = true;
    options.exceptions = kExceptions;
    const auto checked = check_line(*model.value(), line, options);
    ASSERT_TRUE(checked.ok()) << checked.error().message();
    const bool recorded = line.find("status")->text == "200";
    EXPECT_EQ(checked.value().outcome, recorded ? CheckOutcome::compared : CheckOutcome::answered)
        << name << " " << checked.value().id << ": " << checked.value().place;
    EXPECT_LE(checked.value().difference, kFloatLimit) << name << " " << checked.value().id;
  }
}

}  // namespace
}  // namespace adjudge
