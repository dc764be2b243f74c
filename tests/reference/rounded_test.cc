// What `auto` rounds on quantised files, beside what the reference rounds on them: the distance of
// each to the reference's answers on the same weights decoded to f32.
#include <gtest/gtest.h>

#include <algorithm>

#include "decide/check.h"
#include "support/support.h"

namespace adjudge {
namespace {

const std::vector<std::string> kExceptions = {"special_", "state_float", "state_numbers",
                                              "score_odd_levels"};

// The differences of all recorded answers of a file to what it answers in a precision.
std::vector<double> differences(const std::string& family, const std::string& type,
                                Precision precision, const std::string& against) {
  Runtime runtime({.thread_count = 1});
  const auto model = Model::open(testing::tiny_model("tiny-" + family + "-wide-" + type), runtime,
                                 {.precision = precision});
  EXPECT_TRUE(model.ok()) << model.error().message();
  CheckOptions options;
  options.compile.faithful = true;
  options.against = against;
  options.exceptions = kExceptions;
  std::vector<double> found;
  for (const json::Value& line : testing::golden_lines(family + ".quant")) {
    const auto checked = check_line(*model.value(), line, options);
    EXPECT_TRUE(checked.ok()) << checked.error().message();
    if (checked.value().outcome == CheckOutcome::compared) {
      found.push_back(checked.value().difference);
    }
  }
  return found;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

class Rounded : public ::testing::TestWithParam<const char*> {};

TEST_P(Rounded, LiesNoFurtherFromExactThanTheReference) {
  std::vector<double> ours, theirs;
  for (const std::string family :
       {"openjev", "openjev-moe", "openjev-qwen3", "lev", "nimble", "kev"}) {
    std::ranges::copy(differences(family, GetParam(), Precision::automatic, "response_dequantised"),
                      std::back_inserter(ours));
    // Our f32 stands for the decoded file, to which it is nearer than 5e-5 (golden_test.cc).
    std::ranges::copy(differences(family, GetParam(), Precision::f32, "response"),
                      std::back_inserter(theirs));
  }
  ASSERT_GE(ours.size(), 42u);
  RecordProperty("ours", std::to_string(median(ours)));
  RecordProperty("theirs", std::to_string(median(theirs)));
  EXPECT_LE(median(ours), 1.5 * median(theirs));
  EXPECT_GT(median(ours), 0) << "nothing was rounded";
}

INSTANTIATE_TEST_SUITE_P(Formats, Rounded, ::testing::Values("q8_0", "q4_K"),
                         [](const auto& format) { return std::string(format.param); });

}  // namespace
}  // namespace adjudge
