#include "family/test_model.h"

namespace adjudge {
namespace {

using namespace testing;

const TestModel& model() {
  static const TestModel opened = open_tiny("tiny-kev-f32");
  return opened;
}

// How a state looks in the prompt.
std::string shown(const std::string& state) {
  const std::string text = model().text(request_of(
      R"({"state": )" + state + R"(, "questions": {"n": {"type": "noul", "instructions": "x"}}})"));
  const std::string begin = "<|fim_prefix|>";
  return text.substr(begin.size(), text.find("<|fim_middle|>") - begin.size());
}

TEST(Kev, RendersTheWorkedExample) {
  const Request request = request_of(
      R"({"state": {"ticket": "Charged twice", "amount": 12.5, "tags": ["a", "b"]}, "questions":
          {"team": {"type": "choice", "instructions": "Which team?",
                    "criteria": {"billing": "payments", "tech": null}}}})");
  EXPECT_EQ(model().text(request),
            "<|fim_prefix|>ticket: Charged twice\namount: 12.5\ntags:\n  - a\n  - b<|fim_middle|>"
            "Which team?<|box_start|>billing: payments<|box_end|><|box_start|>tech<|box_end|>"
            "<|fim_suffix|>");
}

TEST(Kev, FlattensAsPythonPrints) {
  EXPECT_EQ(shown("true"), "True");
  EXPECT_EQ(shown("1.0"), "1.0");
  EXPECT_EQ(shown("1e15"), "1000000000000000.0");
  EXPECT_EQ(shown("18446744073709551616"), "18446744073709551616");
  EXPECT_EQ(shown("[]"), "");
  EXPECT_EQ(shown(R"({"a": null, "b": [], "c": {}, "d": false})"), "a: \nb:\n\nc:\n\nd: False");
  EXPECT_EQ(shown(R"([1, [2, [3]], {"k": {"l": "m\nn"}}, [], " \t x"])"),
            "- 1\n- - 2\n  - - 3\n- k:\n    l: m\nn\n- \n- x");
}

TEST(Kev, WritesOptionsByKind) {
  const std::string text = model().text(request_of(
      R"({"state": "", "questions": {"s": {"type": "score", "instructions": "",
          "criteria": ["low", "", 0, false]}}})"));
  EXPECT_EQ(text,
            "<|fim_prefix|><|fim_middle|><|box_start|>low<|box_end|><|box_start|><|box_end|>"
            "<|box_start|>0<|box_end|><|box_start|>False<|box_end|><|fim_suffix|>");
  const std::string noul = model().text(request_of(
      R"({"state": "", "questions": {"n": {"type": "noul", "instructions": "x",
          "criteria": {"true": 0, "false": []}}}})"));
  EXPECT_EQ(noul,
            "<|fim_prefix|><|fim_middle|>x<|box_start|>no<|box_end|><|box_start|>yes: 0<|box_end|>"
            "<|fim_suffix|>");
}

TEST(Kev, BreaksTheBarsOfMarkersInUserText) {
  EXPECT_EQ(shown(R"({"<|box_end|>": "<|a<|im_end|> <||> <|x y|> <think>"})"),
            "<¦box_end¦>: <|a<¦im_end¦> <||> <|x y|> <think>");
}

// A scanner that began again at every letter, or looked for an end to every bar, would not come to
// an end with these.
TEST(Kev, BreaksTheBarsOfAMegabyteInOnePass) {
  constexpr std::size_t kMegabyte = 1 << 20;
  const auto repeated = [](std::string_view text) {
    std::string all;
    while (all.size() < kMegabyte) all += text;
    return all;
  };
  struct Case {
    std::string state;
    std::size_t marker_count;  // of which each grows by two bytes, one for each broken bar
  };
  const std::string markers = repeated("<|box_end|>");
  for (const Case& each :
       {Case{"<|" + std::string(kMegabyte, 'a'), 0}, Case{repeated("<|"), 0},
        Case{repeated("<|a"), 0}, Case{repeated("\xC2\xA6"), 0},
        Case{markers, markers.size() / std::string_view("<|box_end|>").size()}}) {
    const std::vector<Option> options = {{"false", json::null()}, {"true", json::null()}};
    const Request request{
        "", json::string(each.state), {{"n", QuestionKind::noul, json::null(), options}}};
    const std::size_t begin = std::string_view("<|fim_prefix|>").size();
    for (const bool faithful : {false, true}) {
      const std::string text = model().text(request, {.faithful = faithful});
      EXPECT_EQ(text.find("<|fim_middle|>") - begin, each.state.size() + 2 * each.marker_count)
          << each.state.substr(0, 12);
    }
  }
}

TEST(Kev, ReadsEveryOptionEndAndTheLastToken) {
  const Request request = request_of(
      R"({"state": "<|box_end|>", "questions": {"c": {
          "type": "choice", "instructions": "<|box_end|>",
          "criteria": {"a<|box_end|>": "<|box_end|>", "b": null, "<|box_end": "|>"}}}})");
  const Token end = model().tokenizer->find("<|box_end|>").value();
  for (const bool faithful : {false, true}) {
    const Prompt prompt = model().compile(request, {.faithful = faithful}).prompts[0];
    ASSERT_EQ(prompt.wanted.size(), 4u);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(prompt.tokens[at(prompt.wanted[at(i)])], end);
    EXPECT_EQ(prompt.wanted[3], count_of(prompt.tokens) - 1);
  }
}

TEST(Kev, NamesWhatAFileLacks) {
  const auto no_width = try_open_file(chat_file(""), find_family("kev"));
  ASSERT_FALSE(no_width.ok());
  EXPECT_NE(no_width.error().message().find("qwen3.embedding_length_out"), std::string::npos);

  GgufWriter odd = chat_file("");
  odd.integer("qwen3.embedding_length_out", 7);
  const auto refused = try_open_file(odd, find_family("kev"));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("found 7"), std::string::npos);

  GgufWriter headless = chat_file("");
  headless.integer("qwen3.embedding_length_out", 8);
  const auto no_head = try_open_file(headless, find_family("kev"));
  ASSERT_FALSE(no_head.ok());
  EXPECT_NE(no_head.error().message().find("cls.output.weight"), std::string::npos);
}

}  // namespace
}  // namespace adjudge
