#include "text/special_matcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "text/fake_vocabulary.h"

namespace adjudge::text {
namespace {

// Tokens by their text, and plain text between them: "<a>|rest|<b>".
std::string shown(std::string_view text, const std::vector<Cut>& cuts,
                  const Vocabulary& vocabulary) {
  std::string shown;
  std::size_t begin = 0;
  const auto add = [&](std::string_view part) {
    if (!part.empty()) shown += (shown.empty() ? "" : "|") + std::string(part);
  };
  for (const Cut& cut : cuts) {
    EXPECT_GE(cut.stretch.begin, begin);
    add(text.substr(begin, cut.stretch.begin - begin));
    add("{" + std::string(vocabulary.text(cut.token)) + "}");
    begin = cut.stretch.end;
  }
  add(text.substr(begin));
  return shown;
}

// The reference, as it is written down: every token in turn is cut out of every fragment.
std::string cut_by_the_book(std::string_view text, std::vector<std::string> tokens) {
  std::ranges::sort(tokens, std::ranges::greater{},
                    [](const std::string& token) { return token.size(); });
  std::vector<std::string> fragments{std::string(text)};  // tokens start with '{'
  for (const std::string& token : tokens) {
    std::vector<std::string> next;
    for (std::string rest : fragments) {
      std::size_t match = 0;
      while (rest.front() != '{' && (match = rest.find(token)) != std::string::npos) {
        if (match > 0) next.push_back(rest.substr(0, match));
        next.push_back("{" + token + "}");
        rest = rest.substr(match + token.size());
        if (rest.empty()) break;
      }
      if (!rest.empty()) next.push_back(rest);
    }
    fragments = std::move(next);
  }
  std::string shown;
  for (const std::string& fragment : fragments) shown += (shown.empty() ? "" : "|") + fragment;
  return shown;
}

class Specials : public ::testing::Test {
 protected:
  void open(const StripRules& rules = {}) {
    vocabulary_ = std::make_unique<Vocabulary>(Vocabulary::read(fake_.metadata()).value());
    matcher_ = std::make_unique<SpecialMatcher>(*vocabulary_, rules);
  }

  std::string cut(std::string_view text) {
    const Stretch all{0, text.size()};
    return cut(text, {&all, 1});
  }
  std::string cut(std::string_view text, std::span<const Stretch> special) {
    return shown(text, matcher_->find(text, special), *vocabulary_);
  }

  FakeVocabulary fake_;
  std::unique_ptr<Vocabulary> vocabulary_;
  std::unique_ptr<SpecialMatcher> matcher_;
};

TEST_F(Specials, NothingIsFoundWhereNothingIsSpecial) {
  open();
  EXPECT_EQ(cut("plain"), "plain");
  EXPECT_EQ(cut(""), "");
}

TEST_F(Specials, ControlTokensCountOnlyWithinOneStretch) {
  fake_.add("<c>", TokenType::control).add("<u>", TokenType::user_defined);
  open();
  const Stretch stretches[] = {{0, 4}, {4, 8}};
  EXPECT_EQ(cut("<c><c>.<", stretches), "{<c>}|<c>.<");
  EXPECT_EQ(cut(".<c>.<c>", stretches), ".|{<c>}|.|{<c>}");
  EXPECT_EQ(cut("<u>.<u>.", stretches), "{<u>}|.|{<u>}|.");
  EXPECT_EQ(cut("<c>", {}), "<c>");
  EXPECT_EQ(cut("..<u>", {}), "..|{<u>}");
}

TEST_F(Specials, ATokenThatIsNoUtf8CutsNoCharacter) {
  fake_.add("\x96", TokenType::user_defined).add("b\xf0", TokenType::control);
  fake_.add("<c>", TokenType::control);
  open();
  EXPECT_EQ(cut("\xf0\x9d\x9e\x96.b\xf0\x9d\x9e\x96.<c>"),
            "\xf0\x9d\x9e\x96.b\xf0\x9d\x9e\x96.|{<c>}");
}

TEST_F(Specials, LengthGoesBeforePosition) {
  fake_.add("ab", TokenType::control).add("bcd", TokenType::control);
  open();
  EXPECT_EQ(cut("abcd"), "a|{bcd}");
  EXPECT_EQ(cut("ababcdab"), "{ab}|a|{bcd}|{ab}");
}

TEST_F(Specials, AMatchThatDoesNotCountHidesNoOther) {
  fake_.add("abc", TokenType::control).add("bc", TokenType::user_defined);
  open();
  EXPECT_EQ(cut("abc", {}), "a|{bc}");
  EXPECT_EQ(cut("abc"), "{abc}");
}

TEST_F(Specials, RunsAreTakenFromTheLongestDown) {
  for (const auto* run : {"  ", "   ", "    "}) fake_.add(run, TokenType::user_defined);
  open();
  EXPECT_EQ(cut("x" + std::string(11, ' ')), "x|{    }|{    }|{   }");
  EXPECT_EQ(cut(std::string(9, ' ')), "{    }|{    }| ");
}

TEST_F(Specials, AgreeWithTheReferenceOnEveryOverlap) {
  std::mt19937 random(1);
  const auto word = [&](std::size_t bytes_max) {
    std::string text;
    for (std::size_t bytes = 1 + random() % bytes_max; bytes > 0; --bytes) {
      text.push_back(static_cast<char>('a' + random() % 3));
    }
    return text;
  };
  for (int round = 0; round < 200; ++round) {
    fake_ = FakeVocabulary();
    std::vector<std::string> tokens;
    while (tokens.size() < 6) {
      const std::string token = "aa" + word(6);  // never one of the byte letters
      if (std::ranges::find(tokens, token) != tokens.end()) continue;
      tokens.push_back(token);
      fake_.add(token, TokenType::control);
    }
    open();
    for (int i = 0; i < 50; ++i) {
      const std::string text = word(30);
      ASSERT_EQ(cut(text), cut_by_the_book(text, tokens));
    }
  }
}

TEST_F(Specials, WhiteSpaceIsStrippedOnTheSideTheRulesName) {
  fake_.add("[MASK]", TokenType::control).add("<s>", TokenType::control);
  open({.strips_left = "[MASK]"});
  EXPECT_EQ(cut("a \n [MASK] b"), "a|{[MASK]}| b");
  EXPECT_EQ(cut("  [MASK][MASK]"), "{[MASK]}|{[MASK]}");
  EXPECT_EQ(cut("<s> [MASK]"), "{<s>}|{[MASK]}");
  open({.all_strip_right = true, .unless = {"<s>"}});
  EXPECT_EQ(cut("a [MASK] \n b<s> c"), "a |{[MASK]}|b|{<s>}| c");
}

TEST_F(Specials, LongerTokensOfBlanksAreTakenBeforeTheyAreStripped) {
  fake_.add("[M]", TokenType::control);
  for (const auto* run : {"  ", "     "}) fake_.add(run, TokenType::user_defined);
  open({.strips_left = "[M]"});
  EXPECT_EQ(cut("a  [M]"), "a|{[M]}");
  EXPECT_EQ(cut("a       [M]"), "a|{     }|{[M]}");
}

}  // namespace
}  // namespace adjudge::text
