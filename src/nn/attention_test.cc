#include "nn/attention.h"

#include <algorithm>
#include <limits>

#include "nn/nn_test.h"

namespace adjudge {
namespace {

// Keys and values of one sequence, which can be cut into runs.
struct Sequence {
  AttentionShape shape;
  int count;
  OwnedRows keys, values;

  Sequence(const AttentionShape& attention, int key_count)
      : shape(attention),
        count(key_count),
        keys("keys", key_count, attention.kv_head_count * attention.head_width),
        values("values", key_count, attention.kv_head_count * attention.head_width) {}

  // Runs that begin at 0 and at every cut.
  std::vector<KeyValueRun> runs(std::vector<int> cuts = {}) const {
    cuts.push_back(count);
    std::vector<KeyValueRun> pieces;
    int begin = 0;
    for (const int end : cuts) {
      pieces.push_back({keys.row(begin), values.row(begin), end - begin});
      begin = end;
    }
    return pieces;
  }
};

struct Case {
  AttentionShape shape;
  int key_count;
  int query_count;
  bool causal;
  int window;
};

int first_visible(const Case& c) { return c.causal ? c.key_count - c.query_count + 1 : 1; }

AttentionWork work_of(const Case& c, OwnedRows& queries, std::span<const KeyValueRun> runs,
                      OwnedRows& out) {
  return {queries.rows(), runs, first_visible(c), c.causal, c.window, out.rows()};
}

std::vector<double> attend_exactly(const Case& c, const Sequence& sequence, const float* query,
                                   int row, int head) {
  const int position = first_visible(c) - 1 + row, width = c.shape.head_width;
  const int offset = head / (c.shape.head_count / c.shape.kv_head_count) * width;
  double total = 0;
  std::vector<double> out(at(width));
  for (int key = 0; key < c.key_count; ++key) {
    if (c.causal && key > position) continue;
    if (c.window > 0 && std::abs(key - position) >= c.window) continue;
    double score = 0;
    for (int d = 0; d < width; ++d) {
      score += wide(query[head * width + d]) * wide(sequence.keys.row(key)[offset + d]);
    }
    const double weight = std::exp(score * wide(c.shape.scale));
    total += weight;
    for (int d = 0; d < width; ++d) {
      out[at(d)] += weight * wide(sequence.values.row(key)[offset + d]);
    }
  }
  for (double& value : out) value /= total;
  return out;
}

constexpr Case kCases[] = {
    {{4, 2, 64, 0.125f}, 50, 50, true, 0},   {{6, 1, 32, 0.2f}, 700, 100, true, 0},
    {{2, 2, 80, 0.1f}, 40, 3, true, 0},      {{3, 3, 20, 0.3f}, 33, 33, false, 0},
    {{4, 4, 64, 0.125f}, 90, 90, false, 12}, {{8, 2, 16, 0.25f}, 120, 60, true, 20},
    {{12, 2, 128, 0.088f}, 65, 1, true, 0},  {{1, 1, 8, 0.35f}, 1, 1, true, 0},
    {{2, 1, 600, 0.04f}, 40, 10, true, 0},   {{2, 1, 32, 0.2f}, 1300, 700, true, 600},
};

TEST(Attend, AgreesWithDoubleArithmetic) {
  TestNet net;
  for (const Case& c : kCases) {
    const Sequence sequence(c.shape, c.key_count);
    const int width = c.shape.head_count * c.shape.head_width;
    OwnedRows queries("queries", c.query_count, width, 3), out(c.query_count, width, 2);
    const std::vector<KeyValueRun> runs = sequence.runs();
    const AttentionWork work = work_of(c, queries, runs, out);
    attend(net.context, c.shape, std::span(&work, 1));
    for (int row = 0; row < c.query_count; ++row) {
      for (int head = 0; head < c.shape.head_count; ++head) {
        const std::vector<double> expected =
            attend_exactly(c, sequence, queries.row(row), row, head);
        for (int d = 0; d < c.shape.head_width; ++d) {
          ASSERT_NEAR(wide(out.row(row)[head * c.shape.head_width + d]), expected[at(d)], 5e-6)
              << "keys " << c.key_count << " row " << row << " head " << head << " " << d;
        }
      }
    }
    EXPECT_TRUE(out.gaps_untouched());
  }
}

TEST(Attend, GivesTheSameBitsHoweverTheRunsAreCut) {
  TestNet net;
  for (const Case& c : kCases) {
    if (c.key_count < 33) continue;
    const Sequence sequence(c.shape, c.key_count);
    const int width = c.shape.head_count * c.shape.head_width;
    OwnedRows queries("queries", c.query_count, width), whole(c.query_count, width);
    const std::vector<KeyValueRun> one_run = sequence.runs();
    const AttentionWork work = work_of(c, queries, one_run, whole);
    attend(net.context, c.shape, std::span(&work, 1));
    for (const std::vector<int>& cuts : {std::vector<int>{1, 2, 17}, {32}, {0, 5, 5, 33}}) {
      OwnedRows cut(c.query_count, width);
      const std::vector<KeyValueRun> runs = sequence.runs(cuts);
      const AttentionWork cut_work = work_of(c, queries, runs, cut);
      attend(net.context, c.shape, std::span(&cut_work, 1));
      EXPECT_EQ(cut.values, whole.values);
    }
  }
}

TEST(Attend, GivesARowTheSameBitsAloneAndInCompany) {
  TestNet net;
  for (const Case& c : kCases) {
    const Sequence sequence(c.shape, c.key_count);
    const int width = c.shape.head_count * c.shape.head_width;
    OwnedRows queries("queries", c.query_count, width), whole(c.query_count, width);
    const std::vector<KeyValueRun> runs = sequence.runs();
    AttentionWork work = work_of(c, queries, runs, whole);
    attend(net.context, c.shape, std::span(&work, 1));
    for (int row = 0; row < c.query_count; row += 7) {
      OwnedRows alone(1, width);
      AttentionWork single = work;
      single.queries = queries.rows(row, 1);
      single.first_visible = work.first_visible + row;
      single.out = alone.rows();
      // A causal row neither sees nor needs the keys behind it.
      Sequence seen = sequence;
      seen.count = c.causal ? single.first_visible : c.key_count;
      const std::vector<KeyValueRun> seen_runs = seen.runs();
      single.runs = seen_runs;
      attend(net.context, c.shape, std::span(&single, 1));
      EXPECT_EQ(alone.values, std::vector<float>(whole.row(row), whole.row(row) + width)) << row;
    }
  }
}

TEST(Attend, GivesTheSameBitsOnAnyNumberOfThreadsAndInOneRoundOrMany) {
  const Case c = kCases[1];
  const Sequence sequence(c.shape, c.key_count);
  const int width = c.shape.head_count * c.shape.head_width;
  const std::vector<KeyValueRun> runs = sequence.runs();
  std::vector<float> expected;
  for (const int threads : {1, 2, 3}) {
    TestNet net(threads);
    OwnedRows queries("queries", c.query_count, width), first(c.query_count, width),
        second(c.query_count, width);
    const AttentionWork works[] = {work_of(c, queries, runs, first),
                                   work_of(c, queries, runs, second)};
    attend(net.context, c.shape, works);
    if (threads == 1) expected = first.values;
    EXPECT_EQ(first.values, expected);
    EXPECT_EQ(second.values, expected);
  }
}

TEST(Attend, GivesNoNegativeZeros) {
  TestNet net;
  const Case c{{1, 1, 8, 1.0f}, 4, 1, true, 0};
  Sequence sequence(c.shape, c.key_count);
  // A quarter of the smallest float rounds to -0, which one more key of weight 0 would turn into 0.
  std::fill(sequence.keys.values.begin(), sequence.keys.values.end(), 0.0f);
  std::fill(sequence.values.values.begin(), sequence.values.values.end(),
            -std::numeric_limits<float>::denorm_min());
  OwnedRows queries("queries", 1, 8), out(1, 8);
  const std::vector<KeyValueRun> runs = sequence.runs();
  const AttentionWork work = work_of(c, queries, runs, out);
  attend(net.context, c.shape, std::span(&work, 1));
  for (const float value : out.values) EXPECT_TRUE(value == 0.0f && !std::signbit(value));
}

TEST(Attend, TakesPromptsLongerThanATileOfScores) {
  TestNet net;
  const Case c{{2, 1, 8, 0.35f}, 30000, 40, true, 0};
  const Sequence sequence(c.shape, c.key_count);
  OwnedRows queries("queries", c.query_count, 16), out(c.query_count, 16);
  const std::vector<KeyValueRun> runs = sequence.runs({4000});
  const AttentionWork work = work_of(c, queries, runs, out);
  attend(net.context, c.shape, std::span(&work, 1));
  for (const int row : {0, 39}) {
    const std::vector<double> expected = attend_exactly(c, sequence, queries.row(row), row, 1);
    for (int d = 0; d < 8; ++d) EXPECT_NEAR(wide(out.row(row)[8 + d]), expected[at(d)], 5e-6);
  }
}

}  // namespace
}  // namespace adjudge
