#include "decide/explain.h"

#include <gtest/gtest.h>

#include <map>

#include "base/size.h"
#include "json/print.h"
#include "protocol/systemone.h"
#include "support/support.h"

namespace adjudge {
namespace {

using json::Value;

std::unique_ptr<ModelFile> open(const std::string& name) {
  auto file = ModelFile::open(testing::tiny_model(name), {});
  if (!file.ok()) ADD_FAILURE() << file.error().message();
  return std::move(file).value();
}

Value explained(const ModelFile& file, const std::string& body) {
  auto value = explain(file, parse_systemone(body, {}).value(), {.faithful = true});
  if (!value.ok()) ADD_FAILURE() << value.error().message();
  return std::move(value).value();
}

int integer_of(const Value& object, const char* name) { return std::stoi(object.find(name)->text); }

const char kTwoQuestions[] = R"({"state": "Charged twice for order 1843.", "questions": {
    "team": {"type": "choice", "instructions": "Which?", "criteria": {"a": "x", "b": "y"}},
    "refund": {"type": "noul", "instructions": "Asked for?"}}})";

TEST(Explain, ShowsTheRecordedPrompts) {
  const auto file = open("tiny-openjev-qwen3-f32");
  int shown = 0;
  for (const Value& line : testing::golden_lines("openjev-qwen3")) {
    const std::string& id = line.find("id")->text;
    if (line.find("status")->text != "200" || !id.starts_with("choice")) continue;
    const Value value = explained(*file, line.find("body")->text);
    const auto& prompts = value.find("prompts")->items;
    const auto& recorded = line.find("prompts")->items;
    ASSERT_EQ(prompts.size(), recorded.size()) << id;
    for (std::size_t i = 0; i < prompts.size(); ++i) {
      EXPECT_EQ(json::print(*prompts[i].find("ids"), json::Flavour::py),
                json::print(*recorded[i].find("ids"), json::Flavour::py))
          << id;
    }
    ++shown;
  }
  EXPECT_GT(shown, 3);
}

TEST(Explain, ShowsATreeThatHoldsEveryTokenOfEveryPromptOnce) {
  const Value value = explained(*open("tiny-openjev-qwen3-f32"), kTwoQuestions);
  const auto& segments = value.find("tree")->items;
  const auto& prompts = value.find("prompts")->items;
  ASSERT_EQ(prompts.size(), 2u);
  int evaluated = 0;
  std::map<int, int> reached;  // how far a prompt whose last segment this is has come
  for (const Value& segment : segments) {
    const Value* parent = segment.find("parent");
    const int begin =
        parent->is_null() ? 0 : integer_of(segments[at(std::stoi(parent->text))], "end");
    EXPECT_EQ(integer_of(segment, "begin"), begin);
    evaluated += integer_of(segment, "end") - begin;
    int& end = reached[integer_of(segment, "prompt")];
    end = std::max(end, integer_of(segment, "end"));
  }
  int total = 0;
  for (const Value& prompt : prompts) total += count_of(prompt.find("ids")->items);
  const Value& tokens = *value.find("tokens");
  EXPECT_EQ(integer_of(tokens, "prompts"), total);
  EXPECT_EQ(integer_of(tokens, "evaluated"), evaluated);
  EXPECT_EQ(integer_of(tokens, "shared"), total - evaluated);
  EXPECT_GT(integer_of(tokens, "shared"), 0);
  for (const auto& [prompt, end] : reached) {
    EXPECT_EQ(end, count_of(prompts[at(prompt)].find("ids")->items));
  }
}

TEST(Explain, ShowsStepsThatCoverEverySegment) {
  const Value value = explained(*open("tiny-openjev-qwen3-f32"), kTwoQuestions);
  std::map<int, int> covered;
  for (const Value& pass : value.find("steps")->items) {
    for (const Value& step : pass.items) {
      covered[integer_of(step, "segment")] += integer_of(step, "end") - integer_of(step, "begin");
    }
  }
  const auto& segments = value.find("tree")->items;
  ASSERT_EQ(covered.size(), segments.size());
  for (const auto& [index, count] : covered) {
    const Value& segment = segments[at(index)];
    EXPECT_EQ(count, integer_of(segment, "end") - integer_of(segment, "begin"));
  }
}

TEST(Explain, ShowsHowReadingsBecomeAnswers) {
  const Value value = explained(*open("tiny-lev-f32"), kTwoQuestions);
  const auto& readings = value.find("readings")->items;
  ASSERT_EQ(readings.size(), 3u);  // a choice in both orders, a rating
  const auto order = [&](std::size_t i) {
    return json::print(*readings[i].find("option_of"), json::Flavour::compact);
  };
  EXPECT_EQ(readings[0].find("question")->text, "team");
  EXPECT_EQ(order(0), "[0,1]");
  EXPECT_EQ(order(1), "[1,0]");
  EXPECT_EQ(readings[2].find("question")->text, "refund");
  EXPECT_EQ(readings[2].find("fold")->text, "rating_scale");
  EXPECT_EQ(readings[2].find("option_of")->items.size(), 9u);
  EXPECT_GT(number_of(*readings[0].find("temperature")), 0.0);
}

TEST(Explain, ShowsWhatWasCutBesideWhatIsLeft) {
  std::string words;
  for (int i = 0; i < 400; ++i) words += "word ";
  const Value value =
      explained(*open("tiny-laya-f32"),
                R"({"state": 1, "questions": {"q": {"type": "choice", "criteria": {"a": ")" +
                    words + R"(", "b": null}}}})");
  const Value& prompt = value.find("prompts")->items[0];
  EXPECT_GT(prompt.find("ids")->items.size(), prompt.find("evaluated_ids")->items.size());
}

TEST(Explain, RefusesWhatTheModelRefuses) {
  const auto file = open("tiny-openjev-qwen3-f32");
  std::string state;
  for (int i = 0; i < file->traits().positions_max; ++i) state += "a b ";
  const auto request = parse_systemone(
      R"({"state": ")" + state + R"(", "questions": {"q": {"type": "noul", "instructions": "?"}}})",
      {});
  const auto refused = explain(*file, request.value(), {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::too_large);
}

TEST(Inspect, SaysWhatAFileIs) {
  const auto file = open("tiny-lev-wide-q4_K");
  const Value value = inspect(*file);
  EXPECT_EQ(value.find("family")->find("name")->text, "lev");
  EXPECT_EQ(value.find("family")->find("readout")->text, "label");
  EXPECT_EQ(value.find("backbone")->find("name")->text, file->traits().name);
  EXPECT_EQ(value.find("fingerprint")->text, file->fingerprint());
  EXPECT_NE(value.find("weights")->find("Q4_K"), nullptr);
  EXPECT_NE(value.find("precision")->find("auto")->find("Q4_K"), nullptr);
  EXPECT_NE(value.find("calibration")->find("temperatures")->find("noul"), nullptr);
  long long weights = 0;
  for (const json::Member& format : value.find("weights")->members) {
    weights += std::stoll(format.value.text);
  }
  EXPECT_LT(weights, std::stoll(value.find("bytes")->text));
  EXPECT_GT(weights, std::stoll(value.find("bytes")->text) / 2);
}

}  // namespace
}  // namespace adjudge
