#include "nn/delta_rule.h"

#include "nn/nn_test.h"

namespace adjudge {
namespace {

constexpr DeltaShape kShape{2, 4, 40};  // 40: a whole slice and a part of one
constexpr int kTokens = 23;

// Everything a prompt of kTokens brings to the rule.
struct Prompt {
  OwnedRows queries{"q", kTokens, 2 * 40}, keys{"k", kTokens, 2 * 40}, values{"v", kTokens, 4 * 40};
  OwnedRows decays{"decay", kTokens, 4}, betas{"beta", kTokens, 4};

  Prompt() {
    for (float& key : keys.values) key *= 0.15f;  // about unit length
    for (float& decay : decays.values) decay = 1 / (1 + std::exp(-2 - decay));
    for (float& beta : betas.values) beta = 1 / (1 + std::exp(-beta));
  }

  DeltaWork tokens(int begin, int count, OwnedRows& out) {
    return {.queries = queries.rows(begin, count),
            .keys = keys.rows(begin, count),
            .values = values.rows(begin, count),
            .decays = decays.rows(begin, count),
            .betas = betas.rows(begin, count),
            .out = out.rows(begin, count)};
  }
};

constexpr std::size_t kStateSize = 4 * 40 * 40;

void expect_exact(const Prompt& prompt, const OwnedRows& out, const std::vector<float>& state) {
  for (int head = 0; head < 4; ++head) {
    const int key_head = head % 2;
    std::vector<double> exact(40 * 40);
    for (int token = 0; token < kTokens; ++token) {
      const float* q = prompt.queries.row(token) + key_head * 40;
      const float* k = prompt.keys.row(token) + key_head * 40;
      for (int c = 0; c < 40; ++c) {
        double recalled = 0, sum = 0;
        for (int i = 0; i < 40; ++i) {
          exact[at(i * 40 + c)] *= wide(prompt.decays.row(token)[head]);
          recalled += exact[at(i * 40 + c)] * wide(k[i]);
        }
        const double update = wide(prompt.betas.row(token)[head]) *
                              (wide(prompt.values.row(token)[head * 40 + c]) - recalled);
        for (int i = 0; i < 40; ++i) {
          exact[at(i * 40 + c)] += wide(k[i]) * update;
          sum += exact[at(i * 40 + c)] * wide(q[i]);
        }
        ASSERT_NEAR(wide(out.row(token)[head * 40 + c]), sum, 1e-5) << token << " " << c;
      }
    }
    for (int i = 0; i < 40 * 40; ++i) {
      ASSERT_NEAR(wide(state[at(head * 1600 + i)]), exact[at(i)], 3e-6) << head << " " << i;
    }
  }
}

TEST(DeltaRule, AgreesWithDoubleArithmetic) {
  TestNet net;
  Prompt prompt;
  OwnedRows out(kTokens, 160, 2);
  std::vector<float> state(kStateSize);
  DeltaWork work = prompt.tokens(0, kTokens, out);
  work.state_out = state.data();
  apply_delta_rule(net.context, kShape, std::span(&work, 1));
  expect_exact(prompt, out, state);
  EXPECT_TRUE(out.gaps_untouched());
}

TEST(DeltaRule, GivesTheSameBitsHoweverAPromptIsCut) {
  Prompt prompt;
  std::vector<float> expected, expected_state(kStateSize);
  for (const int threads : {1, 2, 3}) {
    TestNet net(threads);
    OwnedRows whole(kTokens, 160), cut(kTokens, 160);
    std::vector<float> state(kStateSize), first(kStateSize), last(kStateSize);
    DeltaWork work = prompt.tokens(0, kTokens, whole);
    work.state_out = state.data();
    apply_delta_rule(net.context, kShape, std::span(&work, 1));

    DeltaWork works[] = {prompt.tokens(0, 7, cut), prompt.tokens(7, 1, cut),
                         prompt.tokens(8, kTokens - 8, cut)};
    works[0].state_out = first.data();
    works[1].state_in = first.data();
    works[1].state_out = last.data();
    works[2].state_in = works[2].state_out = last.data();  // in place
    apply_delta_rule(net.context, kShape, works);
    if (threads == 1) {
      expected = whole.values;
      expected_state = state;
    }
    EXPECT_EQ(whole.values, expected);
    EXPECT_EQ(cut.values, expected);
    EXPECT_EQ(state, expected_state);
    EXPECT_EQ(last, expected_state);
  }
}

TEST(DeltaRule, ForksLeaveTheirParentAlone) {
  TestNet net;
  Prompt prompt;
  OwnedRows parent(kTokens, 160), left(kTokens, 160), right(kTokens, 160);
  std::vector<float> state(kStateSize);
  DeltaWork works[] = {prompt.tokens(0, 10, parent), prompt.tokens(10, 5, left),
                       prompt.tokens(10, 13, right)};
  works[0].state_out = state.data();
  works[1].state_in = works[2].state_in = state.data();
  apply_delta_rule(net.context, kShape, works);
  const std::vector<float> before = state;
  apply_delta_rule(net.context, kShape, std::span(works + 1, 2));
  EXPECT_EQ(state, before);
  for (int token = 10; token < 15; ++token) {
    EXPECT_EQ(std::vector<float>(left.row(token), left.row(token) + 160),
              std::vector<float>(right.row(token), right.row(token) + 160));
  }
}

}  // namespace
}  // namespace adjudge
