#include "family/test_model.h"

namespace adjudge {
namespace {

using namespace testing;

std::string text_of(const std::string& body) {
  static const TestModel model = open_tiny("tiny-julia-f32");
  return model.text(request_of(body));
}

TEST(Julia, ShowsAnOptionAsItsDescriptionAlone) {
  EXPECT_EQ(text_of(R"({"state": {"a": 1}, "questions": {"team": {"type": "choice",
                        "instructions": "Which team?",
                        "criteria": {"billing": "payments", "tech": null, "sales": ""}}}})"),
            "<bos>choice question: Which team?<eos><mask> payments<mask> tech<mask> sales<eos>"
            R"({"a": 1}<eos>)");
  EXPECT_EQ(text_of(R"({"state": "s", "questions": {"s": {"type": "score", "instructions": "x",
                        "criteria": ["low", 0]}}})"),
            "<bos>score question: x<eos><mask> low<mask> 1<eos>s<eos>");
  EXPECT_EQ(text_of(R"({"state": "s", "questions": {"n": {"type": "noul", "instructions": "x",
                        "criteria": {"true": "spam"}}}})"),
            "<bos>noul question: x<eos><mask> false<mask> spam<eos>s<eos>");
}

}  // namespace
}  // namespace adjudge
