// An encoder's answer has the same bits alone and among fifteen neighbours of any length, on any
// number of threads: nothing is padded, and no row sees another request's.
#include <gtest/gtest.h>

#include "base/size.h"
#include "decide/decide.h"
#include "protocol/systemone.h"
#include "support/support.h"

namespace adjudge {
namespace {

// Sixteen, from a dozen tokens to more than a pass takes.
std::vector<Request> some_requests() {
  std::vector<Request> requests;
  for (const json::Value& line : testing::golden_lines("laya")) {
    const std::string id = line.find("id")->text;
    const bool is_long = id.starts_with("long");
    if (line.find("status")->text != "200" || (requests.size() >= 12 && !is_long)) continue;
    auto request = parse_systemone(line.find("body")->text, {});
    if (request.ok()) requests.push_back(std::move(request).value());
  }
  return requests;
}

std::vector<std::vector<double>> probabilities_of(const Model& model,
                                                  std::span<const Request> requests) {
  std::vector<std::vector<double>> all;
  for (const Result<Response>& result : decide(model, requests, {})) {
    EXPECT_TRUE(result.ok());
    for (const Answer& answer : result.value().answers) all.push_back(answer.probabilities);
  }
  return all;
}

class EncoderLaws : public ::testing::TestWithParam<std::string> {};

TEST_P(EncoderLaws, CompanyAndThreadsDoNotChangeABit) {
  const std::vector<Request> requests = some_requests();
  ASSERT_EQ(requests.size(), 16u);
  std::vector<std::vector<double>> expected;
  for (const int thread_count : {1, 2, 3}) {
    Runtime runtime({.thread_count = thread_count});
    const auto model = Model::open(testing::tiny_model(GetParam()), runtime, {});
    ASSERT_TRUE(model.ok()) << model.error().message();
    const auto together = probabilities_of(*model.value(), requests);
    if (expected.empty()) expected = together;
    EXPECT_EQ(together, expected) << thread_count << " threads";
    std::vector<std::vector<double>> alone;
    for (const Request& request : requests) {
      for (auto& own : probabilities_of(*model.value(), std::span(&request, 1))) {
        alone.push_back(std::move(own));
      }
    }
    EXPECT_EQ(alone, expected) << thread_count << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(Models, EncoderLaws,
                         ::testing::Values("tiny-laya-f32", "tiny-julia-f32", "tiny-laya-wide-q8_0",
                                           "tiny-laya-wide-q4_K"),
                         [](const auto& model) {
                           std::string name = model.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace adjudge
