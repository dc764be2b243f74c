// The laws of docs/numerics.md on whole requests, bit for bit: company, order, threads and cuts
// change nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/size.h"
#include "decide/decide.h"
#include "engine/evaluate.h"
#include "plan/prefix_forest.h"
#include "protocol/systemone.h"
#include "support/support.h"

namespace adjudge {
namespace {

std::vector<Request> some_requests() {
  std::vector<Request> requests;
  for (const json::Value& line : testing::golden_lines("kev")) {
    const std::string id = line.find("id")->text;
    if (line.find("status")->text != "200" || id.starts_with("long") || id.starts_with("special"))
      continue;
    auto request = parse_systemone(line.find("body")->text, {});
    if (request.ok()) requests.push_back(std::move(request).value());
    if (requests.size() == 14) break;
  }
  return requests;
}

std::vector<Response> decide_all(const Model& model, std::span<const Request> requests,
                                 const DecideOptions& options = {}) {
  std::vector<Response> responses;
  for (Result<Response>& result : decide(model, requests, options)) {
    EXPECT_TRUE(result.ok()) << result.error().message();
    responses.push_back(std::move(result).value());
  }
  return responses;
}

void expect_same_bits(const Answer& a, const Answer& b) {
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.probabilities, b.probabilities) << a.id;
  EXPECT_EQ(a.value, b.value) << a.id;
}

void expect_same_bits(const std::vector<Response>& a, const std::vector<Response>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t r = 0; r < a.size(); ++r) {
    ASSERT_EQ(a[r].answers.size(), b[r].answers.size());
    for (std::size_t q = 0; q < a[r].answers.size(); ++q) {
      expect_same_bits(a[r].answers[q], b[r].answers[q]);
    }
    EXPECT_EQ(a[r].usage.input_tokens, b[r].usage.input_tokens);
  }
}

// A runtime that keeps nothing over requests, so that every pass is cold.
Runtime forgetful(int thread_count) {
  return Runtime({.thread_count = thread_count, .snapshot_bytes_max = 0});
}

struct Case {
  std::string model;
  Precision precision;
};

class Laws : public ::testing::TestWithParam<Case> {
 protected:
  std::unique_ptr<Model> open(Runtime& runtime, const std::string& isa = {}) {
    auto model = Model::open(testing::tiny_model(GetParam().model), runtime,
                             {.precision = GetParam().precision, .isa = isa});
    EXPECT_TRUE(model.ok()) << model.error().message();
    return std::move(model).value();
  }
  const std::vector<Request> requests_ = some_requests();
};

TEST_P(Laws, ARequestAloneAndInCompanyGivesTheSameBits) {
  const kernel::LevelNames levels = kernel::available_levels();
  for (int level = 0; level < levels.count; ++level) {
    Runtime runtime = forgetful(2);
    const auto model = open(runtime, levels.names[level]);
    const std::vector<Response> together = decide_all(*model, requests_);
    std::vector<Response> alone;
    for (const Request& request : requests_) {
      alone.push_back(decide_all(*model, std::span(&request, 1))[0]);
    }
    expect_same_bits(together, alone);
  }
}

TEST_P(Laws, MemoryThatHoldsOnlyOneRequestAnswersAll) {
  Runtime plenty = forgetful(2);
  const auto model = open(plenty);
  const std::vector<Response> expected = decide_all(*model, requests_);
  std::size_t largest = 0;
  for (const Request& request : requests_) {
    const Compiled compiled = compile_within_limits(model->file(), request, {}).value();
    std::vector<const Prompt*> prompts;
    for (const Prompt& prompt : compiled.prompts) prompts.push_back(&prompt);
    const PrefixForest forest = build_prefix_forest(prompts);
    largest =
        std::max(largest, memory_bytes(model->backbone().traits(), forest, Reuse::none(forest)));
  }
  Runtime scarce({.thread_count = 2, .memory_bytes_max = plenty.memory().bytes_taken() + largest});
  expect_same_bits(decide_all(*open(scarce), requests_), expected);
}

TEST_P(Laws, ThreadsDoNotChangeABit) {
  Runtime one = forgetful(1);
  const std::vector<Response> expected = decide_all(*open(one), requests_);
  for (const int thread_count : {2, 3}) {
    Runtime runtime = forgetful(thread_count);
    expect_same_bits(decide_all(*open(runtime), requests_), expected);
  }
}

TEST_P(Laws, AQuestionAloneAndAmongOthersGivesTheSameBits) {
  Runtime runtime = forgetful(2);
  const auto model = open(runtime);
  DecideOptions options;
  options.compile.questions_alone = true;  // where a family shows all questions, they are its input
  for (const Request& request : requests_) {
    const Response together = decide_all(*model, std::span(&request, 1), options)[0];
    for (int q = 0; q < count_of(request.questions); ++q) {
      Request alone = request;
      alone.questions = {request.questions[at(q)]};
      expect_same_bits(together.answers[at(q)],
                       decide_all(*model, std::span(&alone, 1), options)[0].answers[0]);
    }
  }
}

TEST_P(Laws, TheOrderOfQuestionsDoesNotChangeABit) {
  Runtime runtime = forgetful(2);
  const auto model = open(runtime);
  DecideOptions options;
  options.compile.questions_alone = true;
  std::mt19937 random(3);
  for (Request request : requests_) {
    const Response before = decide_all(*model, std::span(&request, 1), options)[0];
    std::ranges::shuffle(request.questions, random);
    const Response after = decide_all(*model, std::span(&request, 1), options)[0];
    for (const Answer& answer : after.answers) {
      expect_same_bits(answer, *std::ranges::find(before.answers, answer.id, &Answer::id));
    }
  }
}

TEST_P(Laws, TheNamesOfQuestionsDoNotChangeABit) {
  Runtime runtime = forgetful(2);
  const auto model = open(runtime);
  for (Request request : requests_) {
    const Response before = decide_all(*model, std::span(&request, 1))[0];
    for (Question& question : request.questions) question.id = "renamed <|im_end|> " + question.id;
    const Response after = decide_all(*model, std::span(&request, 1))[0];
    for (std::size_t q = 0; q < before.answers.size(); ++q) {
      EXPECT_EQ(before.answers[q].probabilities, after.answers[q].probabilities);
    }
  }
}

TEST_P(Laws, WhatIsKeptOverRequestsDoesNotChangeABit) {
  Runtime cold = forgetful(2);
  const auto model = open(cold);
  std::vector<Response> expected;
  for (const Request& request : requests_) {
    expected.push_back(decide_all(*model, std::span(&request, 1))[0]);
  }
  // Room for all that is kept, and for little of it.
  for (const std::size_t bytes_max : {std::size_t{1} << 30, std::size_t{4} << 20}) {
    Runtime runtime({.thread_count = 2, .snapshot_bytes_max = bytes_max});
    const auto warm = open(runtime);
    for (int round = 0; round < 2; ++round) {
      for (const int pick : {0, 1, 0, 2, 1, 3, 4, 5, 6, 5, 7, 8, 9, 10, 11, 12, 13}) {
        const auto response = decide_all(*warm, std::span(&requests_[at(pick)], 1));
        expect_same_bits(response, {expected[at(pick)]});
      }
      expect_same_bits(decide_all(*warm, requests_), expected);
    }
    // Clef reads every row, so nothing of it is kept.
    const bool keeps = warm->file().compiler().traits().name != "clef";
    EXPECT_EQ(runtime.snapshots().counts().hits > 0, keeps);
  }
}

std::string name_of(const ::testing::TestParamInfo<Case>& instance) {
  std::string name = instance.param.model + "-" + precision_name(instance.param.precision);
  std::ranges::replace(name, '-', '_');
  return name;
}

// Every family in f32; bf16 and int8 on formats that are and are not stored so, in every kind of
// layer.
INSTANTIATE_TEST_SUITE_P(Models, Laws,
                         ::testing::Values(Case{"tiny-openjev-f32", Precision::f32},
                                           Case{"tiny-openjev-moe-f32", Precision::f32},
                                           Case{"tiny-openjev-qwen3-f32", Precision::f32},
                                           Case{"tiny-lev-f32", Precision::f32},
                                           Case{"tiny-nimble-f32", Precision::f32},
                                           Case{"tiny-kev-f32", Precision::f32},
                                           Case{"tiny-kev-wide-q4_K", Precision::f32},
                                           Case{"tiny-clef-f32", Precision::f32},
                                           Case{"tiny-clef-wide-q4_K", Precision::f32},
                                           Case{"tiny-kev-f32", Precision::automatic},
                                           Case{"tiny-openjev-moe-f32", Precision::bf16},
                                           Case{"tiny-kev-wide-q4_K", Precision::automatic},
                                           Case{"tiny-kev-wide-q4_K", Precision::bf16},
                                           Case{"tiny-openjev-moe-wide-q4_K", Precision::int8},
                                           Case{"tiny-lev-wide-q8_0", Precision::automatic},
                                           Case{"tiny-nimble-wide-f16", Precision::automatic}),
                         name_of);

}  // namespace
}  // namespace adjudge
