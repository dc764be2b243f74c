#include "protocol/systemone.h"

#include <gtest/gtest.h>

#include "base/size.h"
#include "json/print.h"
#include "protocol/error_body.h"
#include "support/support.h"

namespace adjudge {
namespace {

using json::Flavour;

Request parsed(std::string_view body) {
  auto request = parse_systemone(body, {});
  EXPECT_TRUE(request.ok()) << body << ": " << request.error().message();
  return std::move(request).value();
}

// "path|type" of every fault, in order.
std::vector<std::string> faults_of(std::string_view body, const RequestLimits& limits = {}) {
  const auto request = parse_systemone(body, limits);
  EXPECT_FALSE(request.ok()) << body << " was accepted";
  std::vector<std::string> found;
  if (request.ok()) return found;
  for (const Fault& fault : request.error().faults) {
    std::string line;
    for (const std::string& step : fault.path) line += (line.empty() ? "" : "/") + step;
    EXPECT_FALSE(fault.message.empty());
    found.push_back(line + "|" + fault.type);
  }
  return found;
}

// A body with one question "q" of these members.
std::string asking(const std::string& members) {
  return R"({"state":"x","questions":{"q":{)" + members + "}}}";
}

using Faults = std::vector<std::string>;

TEST(ParseSystemone, ReadsThePublishedExample) {
  const Request request = parsed(R"({
    "model": "jev-latest",
    "state": {"from": "ana@example.org", "text": "Two identical charges."},
    "questions": {
      "refund":   {"type": "noul",   "instructions": "Does the sender want money back?"},
      "desk":     {"type": "choice", "instructions": "Who should take this?",
                   "criteria": {"billing": "money matters", "tech": "faults", "other": null}},
      "pressure": {"type": "score",  "instructions": "How pressing is it?",
                   "criteria": ["no rush", "this week", "now"]}}})");
  EXPECT_EQ(request.model, "jev-latest");
  EXPECT_EQ(json::print(request.state, Flavour::py),
            R"({"from": "ana@example.org", "text": "Two identical charges."})");
  ASSERT_EQ(request.questions.size(), 3u);
  const Question& refund = request.questions[0];
  EXPECT_EQ(refund.id, "refund");
  EXPECT_EQ(refund.kind, QuestionKind::noul);
  EXPECT_EQ(refund.instructions.text, "Does the sender want money back?");
  const Question& desk = request.questions[1];
  EXPECT_EQ(desk.kind, QuestionKind::choice);
  ASSERT_EQ(desk.options.size(), 3u);
  EXPECT_EQ(desk.options[0].key, "billing");
  EXPECT_EQ(desk.options[1].description.text, "faults");
  EXPECT_TRUE(desk.options[2].description.is_null());
  const Question& pressure = request.questions[2];
  EXPECT_EQ(pressure.kind, QuestionKind::score);
  ASSERT_EQ(pressure.options.size(), 3u);
  EXPECT_EQ(pressure.options[2].key, "2");
  EXPECT_EQ(pressure.options[2].description.text, "now");
}

TEST(ParseSystemone, GivesANoulAlwaysTheOptionsFalseAndTrue) {
  for (const auto& [criteria, no, yes] :
       {std::tuple{"", "null", "null"},
        {R"(,"criteria":null)", "null", "null"},
        {R"(,"criteria":{})", "null", "null"},
        {R"(,"criteria":{"true":"t"})", "null", "\"t\""},
        {R"(,"criteria":{"true":{"a":1},"false":["b"],"yes":0})", "[\"b\"]", "{\"a\":1}"}}) {
    const Request request =
        parsed(asking(R"("type":"noul","instructions":"?")" + std::string(criteria)));
    const std::vector<Option>& options = request.questions.at(0).options;
    ASSERT_EQ(options.size(), 2u);
    EXPECT_EQ(options[0].key, "false");
    EXPECT_EQ(options[1].key, "true");
    EXPECT_EQ(json::print(options[0].description, Flavour::compact), no);
    EXPECT_EQ(json::print(options[1].description, Flavour::compact), yes);
  }
}

TEST(ParseSystemone, TakesAnyStateButNull) {
  for (const char* state : {"\"\"", "{}", "[]", "0", "false", "1.50", "12345678901234567890123"}) {
    parsed(R"({"state":)" + std::string(state) +
           R"(,"questions":{"q":{"type":"noul","instructions":"?"}}})");
  }
  EXPECT_EQ(faults_of(R"({"state":null,"questions":{"q":{"type":"noul","instructions":"?"}}})"),
            Faults{"state|missing"});
}

TEST(ParseSystemone, NeedsSomethingToAskOfANoul) {
  parsed(asking(R"("type":"noul","criteria":{"false":"calm"})"));
  parsed(asking(R"("type":"noul","instructions":"")"));
  for (const char* members : {R"("type":"noul")", R"("type":"noul","instructions":null)",
                              R"("type":"noul","criteria":{"true":null,"false":""})"}) {
    EXPECT_EQ(faults_of(asking(members)), Faults{"questions/q/noul/instructions|missing"});
  }
}

TEST(ParseSystemone, LetsTheOtherKindsGoWithoutInstructions) {
  EXPECT_TRUE(parsed(asking(R"("type":"choice","criteria":{"a":null,"b":1})"))
                  .questions[0]
                  .instructions.is_null());
  parsed(asking(R"("type":"score","criteria":["low",2,{"x":[]},false])"));
}

TEST(ParseSystemone, TakesOneOptionOneLevelAndAnEmptyKey) {
  EXPECT_EQ(parsed(asking(R"("type":"choice","criteria":{"":"only"})")).questions[0].options[0].key,
            "");
  parsed(asking(R"("type":"score","criteria":["only"])"));
}

TEST(ParseSystemone, RefusesCriteriaOfTheWrongForm) {
  for (const auto& [members, fault] :
       {std::pair{R"("type":"choice")", "choice/criteria|missing"},
        {R"("type":"choice","criteria":null)", "choice/criteria|missing"},
        {R"("type":"choice","criteria":["a","b"])", "choice/criteria|dict_type"},
        {R"("type":"choice","criteria":{})", "choice/criteria|too_short"},
        {R"("type":"score")", "score/criteria|missing"},
        {R"("type":"score","criteria":{"0":"low"})", "score/criteria|list_type"},
        {R"("type":"score","criteria":[])", "score/criteria|too_short"},
        {R"("type":"score","criteria":["low",null])", "score/criteria/1|missing"},
        {R"("type":"score","criteria":[0,1,2,3,4,5,6,7,8,9,10])", "score/criteria|too_long"},
        {R"("type":"noul","instructions":"?","criteria":"yes or no")", "noul/criteria|dict_type"},
        {R"("type":"box","instructions":"the mug")", "type|union_tag_invalid"},
        {R"("type":"Noul")", "type|union_tag_invalid"},
        {R"("type":3)", "type|union_tag_invalid"},
        {R"("instructions":"?")", "type|union_tag_not_found"}}) {
    EXPECT_EQ(faults_of(asking(members)), Faults{"questions/q/" + std::string(fault)}) << members;
  }
}

std::string choice_of(int option_count) {
  std::string members = R"("type":"choice","criteria":{)";
  for (int i = 0; i < option_count; ++i) {
    members += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":null";
  }
  return asking(members + "}");
}

TEST(ParseSystemone, QuotesTheLimitThatAChoiceExceeds) {
  EXPECT_EQ(parsed(choice_of(255)).questions[0].options.size(), 255u);
  const auto refused = parse_systemone(choice_of(256), {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::bad_request);
  EXPECT_EQ(refused.error().message(), "questions.q.choice.criteria: 256 options, at most 255");
}

TEST(ParseSystemone, CollectsEveryFaultInTheOrderOfTheBody) {
  EXPECT_EQ(faults_of(R"({"model":7,"questions":{
              "a":{"type":"noul"},"b":5,"":{"type":"noul","instructions":"?"},
              "c":{"type":"score","criteria":[null,"x",null]},
              "d":{"type":"noul","instructions":"fine"},"e":{"type":"rank"}}})"),
            (Faults{"model|string_type", "state|missing", "questions/a/noul/instructions|missing",
                    "questions/b|dict_type", "questions|too_short",
                    "questions/c/score/criteria/0|missing", "questions/c/score/criteria/2|missing",
                    "questions/e/type|union_tag_invalid"}));
}

TEST(ParseSystemone, StopsCollectingAtItsLimit) {
  std::string body = R"({"state":1,"questions":{"q0":0)";
  for (int i = 1; i < 500; ++i) body += ",\"q" + std::to_string(i) + "\":0";
  EXPECT_EQ(faults_of(body + "}}").size(), at(RequestLimits{}.fault_count_max));
}

TEST(ParseSystemone, RefusesBodiesThatAreNoRequest) {
  EXPECT_EQ(faults_of(""), Faults{"|json_invalid"});
  EXPECT_EQ(faults_of(R"({"state":"x")"), Faults{"|json_invalid"});
  EXPECT_EQ(faults_of("[1,2]"), Faults{"|dict_type"});
  EXPECT_EQ(faults_of("{}"), (Faults{"state|missing", "questions|missing"}));
  EXPECT_EQ(faults_of(R"({"state":1,"questions":null})"), Faults{"questions|missing"});
  EXPECT_EQ(faults_of(R"({"state":1,"questions":{}})"), Faults{"questions|too_short"});
  EXPECT_EQ(faults_of(R"({"state":1,"questions":[{"type":"noul","instructions":"?"}]})"),
            Faults{"questions|dict_type"});
  EXPECT_EQ(faults_of(R"({"state":)" + std::string(5'000, '[')), Faults{"|too_deep"});
}

TEST(ParseSystemone, RefusesMediaAndIgnoresWhatItDoesNotKnow) {
  const std::string question = R"("questions":{"q":{"type":"noul","instructions":"?","id":"x"}})";
  parsed(R"({"state":1,"stream":true,"images":[],"videos":null,"assets":{},)" + question + "}");
  EXPECT_EQ(
      faults_of(R"({"state":1,"images":"data:","videos":["v"],"assets":{"a":1},"files":[1],)" +
                question + "}"),
      (Faults{"assets|extra_forbidden", "files|extra_forbidden", "images|extra_forbidden",
              "videos|extra_forbidden"}));
}

TEST(ParseSystemone, LetsTheLastOfRepeatedMembersWin) {
  const Request request = parsed(
      R"({"state":1,"state":2,"questions":{"a":{"type":"rank"},"b":{"type":"choice",
          "criteria":{"x":1,"y":2,"x":3}},"a":{"type":"noul","instructions":"?"}}})");
  EXPECT_EQ(request.state.text, "2");
  ASSERT_EQ(request.questions.size(), 2u);
  EXPECT_EQ(request.questions[0].id, "a");
  EXPECT_EQ(request.questions[1].options[0].description.text, "3");
}

TEST(ParseSystemone, CallsTooManyQuestionsTooLarge) {
  RequestLimits limits;
  limits.question_count_max = 2;
  const auto refused = parse_systemone(R"({"state":1,"questions":{"a":0,"b":0,"c":0}})", limits);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::too_large);
  EXPECT_EQ(refused.error().message(), "questions: 3 questions, at most 2");
}

TEST(ParseSystemone, DoesNotRepeatAnIdThatIsTooLong) {
  const std::string question = R"(":{"type":"noul","instructions":"?"}}})";
  parsed(R"({"state":1,"questions":{")" + std::string(1024, 'i') + question);
  const auto refused =
      parse_systemone(R"({"state":1,"questions":{")" + std::string(1025, 'i') + question, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message(), "questions: 1025 bytes of question id, at most 1024");
}

// Where the recorded server refused, so do we, or the published contract answers; where it
// answered, we do, but for levels that are null.
TEST(ParseSystemone, AgreesWithTheRecordedServerAboutWhatIsARequest) {
  for (const json::Value& line : testing::golden_lines("kev")) {
    const std::string& id = line.find("id")->text;
    const auto request = parse_systemone(line.find("body")->text, {});
    const bool answered_there = line.find("status")->text == "200";
    const bool differs =
        id == "score_odd_levels.a" || id == "err_score_size.a" || id == "err_second.a";
    EXPECT_EQ(request.ok(), answered_there != differs) << id;
    if (request.ok()) continue;
    EXPECT_EQ(status_of(request.error()), 422) << id;
  }
  for (const json::Value& line : testing::golden_lines("limits")) {
    EXPECT_TRUE(parse_systemone(line.find("body")->text, {}).ok());
  }
}

TEST(PrintRequest, GivesABodyThatParsesToTheSameRequest) {
  for (const json::Value& line : testing::golden_lines("kev")) {
    const auto request = parse_systemone(line.find("body")->text, {});
    if (!request.ok()) continue;
    const std::string body = print_request(request.value());
    EXPECT_EQ(print_request(parsed(body)), body);
    EXPECT_EQ(body.find('\n'), std::string::npos);
  }
  EXPECT_EQ(print_request(parsed(R"({"questions":{"q":{"criteria":{"true":1.0},"type":"noul"}},
                                     "state":[1, 1.0, {"b":2,"a":1}],"model":"m"})")),
            R"({"model":"m","state":[1,1.0,{"b":2,"a":1}],"questions":{"q":{"type":"noul",)"
            R"("instructions":null,"criteria":{"false":null,"true":1.0}}}})");
}

TEST(PrintSystemone, GivesMembersInThePublishedOrder) {
  const Request request = parsed(R"({"state":1,"questions":{
      "refund":{"type":"noul","instructions":"?"},
      "desk":{"type":"choice","criteria":{"billing":1,"":2}},
      "pressure":{"type":"score","criteria":["no rush",{"b":1,"a":[2.50]},7]}}})");
  const Response response = {
      .model = "jev-1.13.0",
      .answers = {{.id = "refund",
                   .kind = QuestionKind::noul,
                   .probabilities = {0.03, 0.97},
                   .value = 0.97},
                  {.id = "desk",
                   .kind = QuestionKind::choice,
                   .probabilities = {1e-07, 0.9999999},
                   .best = 1,
                   .confidence = 0.9999998},
                  {.id = "pressure",
                   .kind = QuestionKind::score,
                   .probabilities = {0, 0.1 + 0.2, 1},
                   .value = 1,
                   .confidence = 0}},
      .usage = {.input_tokens = 304, .prompt_tokens = 500},
  };
  EXPECT_EQ(print_systemone(response, request),
            R"({"model":"jev-1.13.0","answers":{"refund":{"type":"noul","noul":0.97},)"
            R"("desk":{"type":"choice","choice":"","confidence":0.9999998,)"
            R"("probabilities":{"billing":1e-07,"":0.9999999}},)"
            R"("pressure":{"type":"score","score":1.0,"confidence":0.0,)"
            R"("legend":{"0":"no rush","1":{"b":1,"a":[2.5]},"2":7},)"
            R"("probabilities":{"0":0.0,"1":0.30000000000000004,"2":1.0}}},)"
            R"("usage":{"input_tokens":304,"output_tokens":0}})");
}

TEST(KindName, IsTheWordOfTheWire) {
  EXPECT_STREQ(kind_name(QuestionKind::choice), "choice");
  EXPECT_STREQ(kind_name(QuestionKind::score), "score");
  EXPECT_STREQ(kind_name(QuestionKind::noul), "noul");
}

}  // namespace
}  // namespace adjudge
