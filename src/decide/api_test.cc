// The library as its users see it: through include/adjudge/ alone.
#include <gtest/gtest.h>

#include <array>
#include <tuple>

#include "adjudge/adjudge.h"
#include "support/support.h"

namespace adjudge {
namespace {

DecisionModel open(const std::string& name) {
  auto model = DecisionModel::open(testing::tiny_model(name), {.precision = "f32"});
  if (!model.ok()) ADD_FAILURE() << model.error().message();
  return std::move(model).value();
}

DecisionRequest ticket() {
  DecisionRequest request;
  request.state("Charged twice for order 1843.")
      .choice("team", "Which team?", {{"billing", "payments"}, {"tech", ""}})
      .score("urgency", "How urgent?", {"low", "high", "now"})
      .noul("refund", "Is a refund asked for?");
  return request;
}

Result<DecisionResponse> ask(const DecisionModel& model, const DecisionRequest& request,
                             const SubmitOptions& options = {}) {
  return model.submit({&request, 1}, options).at(0);
}

// The error of a request that this model has to refuse.
Error refusal(const DecisionRequest& request) {
  static const DecisionModel model = open("tiny-openjev-qwen3-f32");
  const auto refused = ask(model, request);
  EXPECT_FALSE(refused.ok());
  return refused.ok() ? Error{ErrorKind::internal, ""} : refused.error();
}

TEST(DecisionRequest, BuildsTheBodyOfSystemOne) {
  EXPECT_EQ(
      ticket().json().value(),
      R"({"state":"Charged twice for order 1843.","questions":{)"
      R"("team":{"type":"choice","instructions":"Which team?",)"
      R"("criteria":{"billing":"payments","tech":null}},)"
      R"("urgency":{"type":"score","instructions":"How urgent?","criteria":["low","high","now"]},)"
      R"("refund":{"type":"noul","instructions":"Is a refund asked for?","criteria":null}}})");
}

TEST(DecisionRequest, GoesOnFromJson) {
  DecisionRequest request =
      DecisionRequest::from_json(R"({"state": 1.0, "questions": {"a": {"type": "noul"}}})");
  request.state_json("[1, 1.0]").noul("b", "B?");
  EXPECT_EQ(request.json().value(), R"({"state":[1,1.0],"questions":{"a":{"type":"noul"},)"
                                    R"("b":{"type":"noul","instructions":"B?","criteria":null}}})");
}

TEST(DecisionRequest, TakesTheLastOfOneName) {
  DecisionRequest request;
  request.noul("a", "first").noul("b", "B").noul("a", "last").state("s").state("t");
  EXPECT_EQ(request.json().value(),
            R"({"questions":{"a":{"type":"noul","instructions":"last","criteria":null},)"
            R"("b":{"type":"noul","instructions":"B","criteria":null}},"state":"t"})");
}

TEST(DecisionRequest, IsCopiedWhole) {
  const DecisionRequest first = ticket();
  DecisionRequest second = first;
  second.state("another");
  EXPECT_NE(first.json().value(), second.json().value());
  second = first;
  EXPECT_EQ(first.json().value(), second.json().value());
}

TEST(DecisionRequest, RefusesJsonThatCannotBeReadWhenItIsSubmitted) {
  for (const char* text : {"", "{", "nonsense"}) {
    const Error error = refusal(DecisionRequest::from_json(text));
    EXPECT_EQ(error.kind, ErrorKind::bad_request) << text;
    EXPECT_EQ(error.faults[0].type, "json_invalid") << text;
  }
  for (const char* text : {"", "1, \"model\": \"m\"", "}"}) {
    DecisionRequest request = ticket();
    request.state_json(text);
    EXPECT_EQ(refusal(request).faults[0].path.at(0), "state") << text;
    EXPECT_FALSE(request.json().ok()) << text;
  }
}

TEST(DecisionRequest, NeverLosesAQuestionSilently) {
  for (const char* body : {"[]", "7", R"({"state": 1, "questions": []})"}) {
    DecisionRequest request = DecisionRequest::from_json(body);
    request.state("s").noul("a", "A?");
    EXPECT_EQ(refusal(request).kind, ErrorKind::bad_request) << body;
  }
}

TEST(DecisionRequest, IsRefusedWithTheFaultsOfTheWire) {
  DecisionRequest request;
  request.choice("team", "Which?", {});
  const Error error = refusal(request);
  EXPECT_EQ(error.kind, ErrorKind::bad_request);
  ASSERT_EQ(error.faults.size(), 2u) << error.message();
  EXPECT_EQ(error.faults[0].path, std::vector<std::string>{"state"});
  EXPECT_EQ(error.faults[1].path,
            (std::vector<std::string>{"questions", "team", "choice", "criteria"}));
}

TEST(DecisionModel, AnswersEveryKindOfQuestion) {
  const DecisionModel model = open("tiny-openjev-qwen3-f32");
  const auto response = ask(model, ticket());
  ASSERT_TRUE(response.ok()) << response.error().message();
  EXPECT_EQ(response.value().model, "tiny-openjev-qwen3-f32");
  EXPECT_GT(response.value().input_tokens, 20);
  const auto& answers = response.value().answers;
  ASSERT_EQ(answers.size(), 3u);
  const std::array<std::string, 3> types = {"choice", "score", "noul"};
  for (std::size_t i = 0; i < answers.size(); ++i) {
    EXPECT_EQ(answers[i].type, types[i]);
    EXPECT_FALSE(answers[i].truncation.any());
    double sum = 0;
    for (const OptionProbability& option : answers[i].options) sum += option.probability;
    EXPECT_NEAR(sum, 1, 1e-12);
  }
  const auto& [billing, tech] = std::tie(answers[0].options[0], answers[0].options[1]);
  EXPECT_EQ(billing.key, "billing");
  EXPECT_EQ(answers[0].choice, billing.probability >= tech.probability ? "billing" : "tech");
  EXPECT_NEAR(answers[1].score,
              answers[1].options[1].probability + 2 * answers[1].options[2].probability, 1e-12);
  EXPECT_EQ(answers[2].noul, answers[2].options[1].probability);
  EXPECT_NE(response.value().json.find("\"urgency\""), std::string::npos);
}

TEST(DecisionModel, GivesOneResultPerRequestInOrderWhateverTheCompany) {
  const DecisionModel model = open("tiny-openjev-qwen3-f32");
  std::vector<DecisionRequest> requests = {ticket(), DecisionRequest(), ticket()};
  requests[2].state("Something else.");
  const auto results = model.submit(requests);
  ASSERT_EQ(results.size(), 3u);
  EXPECT_FALSE(results[1].ok());
  EXPECT_EQ(results[0].value().json, ask(model, requests[0]).value().json);
  EXPECT_EQ(results[2].value().json, ask(model, requests[2]).value().json);
  EXPECT_NE(results[0].value().json, results[2].value().json);
  EXPECT_TRUE(model.submit({}).empty());
}

TEST(DecisionModel, TellsWhatItsTrainingCutOrRefusesIt) {
  const DecisionModel model = open("tiny-laya-f32");
  std::string words;
  for (int i = 0; i < 400; ++i) words += "word ";
  DecisionRequest request = ticket();
  request.choice("long", "Which?", {{"cut", words + "a"}, {"alike", words + "b"}, {"whole", ""}});
  const auto response = ask(model, request);
  ASSERT_TRUE(response.ok()) << response.error().message();
  const DecisionTruncation& truncation = response.value().answers.back().truncation;
  EXPECT_EQ(truncation.options, (std::vector<std::string>{"cut", "alike"}));
  EXPECT_TRUE(truncation.any());
  EXPECT_FALSE(response.value().answers.front().truncation.any());
  const auto refused = ask(model, request, {.refuse_truncation = true});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::bad_request);
  EXPECT_EQ(refused.error().faults[0].type, "truncated");
}

TEST(DecisionModel, GivesUpWhenToldTo) {
  const DecisionModel model = open("tiny-openjev-qwen3-f32");
  std::stop_source stop;
  stop.request_stop();
  const auto given_up = ask(model, ticket(), {.stop = stop.get_token()});
  ASSERT_FALSE(given_up.ok());
  EXPECT_EQ(given_up.error().kind, ErrorKind::cancelled);
}

TEST(DecisionModel, SaysWhyItCannotBeOpened) {
  const std::string path = testing::tiny_model("tiny-openjev-qwen3-f32");
  const auto kind = [&](const std::string& file, const ModelSettings& settings) {
    const auto opened = DecisionModel::open(file, settings);
    return opened.ok() ? ErrorKind::internal : opened.error().kind;
  };
  EXPECT_EQ(kind(path, {.precision = "f8"}), ErrorKind::bad_request);
  EXPECT_EQ(kind(path, {.isa = "abacus"}), ErrorKind::not_supported);
  EXPECT_EQ(kind(path, {.family = "nobody"}), ErrorKind::bad_model);
  EXPECT_EQ(kind(path, {.split = "nowhere"}), ErrorKind::bad_model);
  EXPECT_EQ(kind(path + ".gone", {}), ErrorKind::bad_model);
}

TEST(Process, TakesLimitsOfBytesAtAnyTime) {
  const DecisionModel model = open("tiny-openjev-qwen3-f32");
  ASSERT_TRUE(configure_process({.memory_bytes_max = 1}).ok());
  const auto full = ask(model, ticket());
  ASSERT_TRUE(configure_process({}).ok());
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().kind, ErrorKind::unavailable);
  EXPECT_TRUE(ask(model, ticket()).ok());
}

TEST(Process, TakesNothingWithAnotherNumberOfThreadsOnceAModelWasOpened) {
  const DecisionModel model = open("tiny-openjev-qwen3-f32");
  const Status refused = configure_process({.thread_count = 999, .memory_bytes_max = 1});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::unavailable);
  EXPECT_TRUE(ask(model, ticket()).ok());
}

TEST(Version, IsThatOfTheBuild) { EXPECT_STREQ(version(), ADJ_VERSION); }

}  // namespace
}  // namespace adjudge
