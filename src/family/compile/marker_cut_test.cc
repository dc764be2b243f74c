#include "family/compile/marker_cut.h"

#include "family/test_model.h"
#include "json/print.h"

namespace adjudge {
namespace {

using namespace testing;

constexpr Token kFirst = 1;
constexpr MarkerTokens kSpecial{.separator = 2, .marker = 3};

// Options of the given lengths without their markers; option i's tokens are 100 i, 100 i + 1 ...
Tokens prompt(int question, const std::vector<int>& options, int state) {
  Tokens tokens = {kFirst};
  for (int i = 0; i < question; ++i) tokens.push_back(10000 + i);
  tokens.push_back(kSpecial.separator);
  for (int option = 0; option < count_of(options); ++option) {
    tokens.push_back(kSpecial.marker);
    for (int i = 0; i < options[at(option)]; ++i) tokens.push_back(100 * (option + 1) + i);
  }
  tokens.push_back(kSpecial.separator);
  for (int i = 0; i < state; ++i) tokens.push_back(20000 + i);
  tokens.push_back(kSpecial.separator);
  return tokens;
}

MarkerCut cut(const Tokens& tokens, int option_count, MarkerLimits limits = {192, 100000}) {
  return cut_marker_prompt(tokens, option_count, kSpecial, limits).value();
}

TEST(MarkerCut, LeavesAloneWhatFits) {
  const Tokens tokens = prompt(20, {5, 48, 3}, 500);
  const MarkerCut found = cut(tokens, 3);
  EXPECT_EQ(found.tokens, tokens);
  EXPECT_EQ(found.markers, (std::vector<int>{22, 28, 77}));
  EXPECT_FALSE(found.truncation.any());
}

TEST(MarkerCut, AnOptionHasAtMostFortyEightTokens) {
  const MarkerCut found = cut(prompt(20, {5, 60}, 7), 2);
  EXPECT_EQ(found.tokens, prompt(20, {5, 48}, 7));
  EXPECT_EQ(found.truncation.options_cut, std::vector<int>{1});
  EXPECT_TRUE(found.truncation.options_alike.empty());
}

TEST(MarkerCut, ManyOptionsAreShortenedAlike) {
  // 10 * 31 tokens with markers: (192 - 16) / 10 = 17 each, and 192 - 170 = 22 for the question.
  const MarkerCut found = cut(prompt(50, std::vector<int>(10, 30), 7), 10);
  EXPECT_EQ(found.tokens, prompt(22, std::vector<int>(10, 16), 7));
  EXPECT_EQ(found.truncation.question.token_count, 50);
  EXPECT_EQ(found.truncation.question.kept_count, 22);
  EXPECT_EQ(found.truncation.options_cut.size(), 10u);
}

TEST(MarkerCut, FourTokensAndEightAreTheLeast) {
  const MarkerCut found = cut(prompt(50, std::vector<int>(60, 9), 7), 60);
  EXPECT_EQ(found.tokens, prompt(8, std::vector<int>(60, 3), 7));
}

TEST(MarkerCut, OptionsThatOnlyDifferInWhatWasCutAreNamed) {
  Tokens tokens = prompt(3, {60, 60, 5, 5}, 1);
  for (Token& token : tokens) {
    if (token >= 200 && token < 248) token -= 100;  // the second option begins as the first does
    if (token >= 400 && token < 405) token -= 100;  // the fourth always was the third
  }
  const MarkerCut found = cut(tokens, 4);
  EXPECT_EQ(found.truncation.options_cut, (std::vector<int>{0, 1}));
  EXPECT_EQ(found.truncation.options_alike, (std::vector<int>{0, 1}));
}

TEST(MarkerCut, TheStateLosesItsEnd) {
  const Tokens tokens = prompt(5, {3, 3}, 90);
  const MarkerCut found = cut(tokens, 2, {192, 60});
  EXPECT_EQ(found.tokens, Tokens(tokens.begin(), tokens.begin() + 60));
  EXPECT_EQ(found.truncation.state.token_count, 90);
  EXPECT_EQ(found.truncation.state.kept_count, 44);
  EXPECT_TRUE(found.truncation.any());
}

// Training cuts ids, not characters: a character of several tokens may keep its beginning alone.
// The model alone sees it; nothing turns these tokens into text again.
TEST(MarkerCut, TheStateMayEndWithinACharacter) {
  std::string state = " ";  // which one of the two puts before any text
  for (int i = 0; i < 40; ++i) state += "\U0001F9FF";
  for (const char* name : {"tiny-laya-f32", "tiny-julia-f32"}) {
    const TestModel model = open_tiny(name);
    const Tokens state_tokens = model.tokenizer->encode(state, false);
    const Tokens head = prompt(5, {3, 3}, 0);
    Tokens tokens(head.begin(), head.end() - 1);
    tokens.insert(tokens.end(), state_tokens.begin(), state_tokens.end());
    tokens.push_back(kSpecial.separator);
    int broken_count = 0;
    for (int count_max = count_of(tokens) - 12; count_max < count_of(tokens); ++count_max) {
      const MarkerCut found = cut(tokens, 2, {192, count_max});
      EXPECT_EQ(found.tokens, Tokens(tokens.begin(), tokens.begin() + count_max));
      EXPECT_EQ(found.truncation.state.kept_count, count_max - count_of(head) + 1);
      std::string kept;
      for (int i = 0; i < found.truncation.state.kept_count; ++i) {
        kept += model.tokenizer->text_of(state_tokens[at(i)]);
      }
      EXPECT_TRUE(state.starts_with(kept));
      if (json::valid_utf8(kept) != kept) ++broken_count;
    }
    EXPECT_GT(broken_count, 0) << name;
    EXPECT_LT(broken_count, 12) << name;
  }
}

TEST(MarkerCut, AHeadThatIsTooLongIsLeftToTheLimitOfThePrompt) {
  EXPECT_GT(cut(prompt(50, {3, 3}, 5), 2, {192, 30}).tokens.size(), 30u);
}

TEST(MarkerCut, OtherLayoutsAreNone) {
  const Tokens good = prompt(5, {3, 3}, 9);
  EXPECT_FALSE(cut_marker_prompt(good, 3, kSpecial, {192, 1000}));
  EXPECT_FALSE(cut_marker_prompt({}, 0, kSpecial, {192, 1000}));
  EXPECT_FALSE(cut_marker_prompt({kFirst, 3, 2, 2}, 1, kSpecial, {192, 1000}));
  Tokens open_end = good;
  open_end.pop_back();
  EXPECT_FALSE(cut_marker_prompt(open_end, 2, kSpecial, {192, 1000}));
  Tokens unseparated = good;
  unseparated[6] = 10;
  EXPECT_FALSE(cut_marker_prompt(unseparated, 2, kSpecial, {192, 1000}));
  EXPECT_FALSE(cut_marker_prompt({1, 5, 2, 3, 7, 2}, 1, kSpecial, {192, 1000}));  // no state's end
}

}  // namespace
}  // namespace adjudge
