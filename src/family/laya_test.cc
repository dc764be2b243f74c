#include "family/test_model.h"

namespace adjudge {
namespace {

using namespace testing;

std::string text_of(const std::string& body) {
  static const TestModel model = open_tiny("tiny-laya-f32");
  return model.text(request_of(body));
}

TEST(Laya, RendersTheWorkedExample) {
  EXPECT_EQ(text_of(R"({"state": {"ticket": "Charged twice", "amount": 12.5, "tags": ["a", "b"]},
                        "questions": {"team": {"type": "choice", "instructions": "Which team?",
                                      "criteria": {"billing": "payments", "tech": null}}}})"),
            "[CLS]choice question: Which team?[SEP][MASK] billing: payments[MASK] tech[SEP]"
            R"({"ticket": "Charged twice", "amount": 12.5, "tags": ["a", "b"]}[SEP])");
}

TEST(Laya, WritesLevelsAndStatementsInItsWords) {
  EXPECT_EQ(text_of(R"({"state": "", "questions": {"s": {"type": "score", "instructions": "",
                        "criteria": ["low", "", 0, false]}}})"),
            "[CLS]score question: [SEP][MASK] level 0: low[MASK] level 1: [MASK] level 2: 0"
            "[MASK] level 3: false[SEP][SEP]");
  EXPECT_EQ(text_of(R"({"state": [], "questions": {"n": {"type": "noul", "instructions": "x",
                        "criteria": {"false": 0}}}})"),
            "[CLS]noul question: x[SEP][MASK] false: no, the statement does not hold"
            "[MASK] true: yes, the statement holds[SEP][][SEP]");
}

TEST(Laya, NamesTheHeadLengthThatAFileLacks) {
  const auto refused = try_open_file(chat_file(""), find_family("laya"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::bad_model);
}

}  // namespace
}  // namespace adjudge
