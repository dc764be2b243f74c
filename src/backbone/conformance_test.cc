// Laws of every backbone, bit for bit: a row depends on the tokens before it, never on company,
// cuts, forks or threads.
#include <gtest/gtest.h>

#include <functional>

#include "backbone/sample.h"
#include "backbone/test_network.h"

namespace adjudge::testing {

namespace {

using Bits = std::vector<std::vector<float>>;  // rows

Bits bits_of(const HiddenRows& rows) {
  Bits bits;
  for (int i = 0; i < rows.count(); ++i) bits.emplace_back(rows.row(i).begin(), rows.row(i).end());
  return bits;
}

std::vector<int> all_of(int count) {
  std::vector<int> wanted(at(count));
  std::iota(wanted.begin(), wanted.end(), 0);
  return wanted;
}

Tokens joined(std::initializer_list<Tokens> parts) {
  Tokens all;
  for (const Tokens& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Tokens prompt(int count, int seed) { return some_tokens(count, 97, seed); }

// The last `count` rows of a prompt evaluated alone and in one call.
Bits alone(const TestNetwork& network, const Tokens& tokens, int count) {
  const Bits rows = bits_of(network.rows_of(tokens));
  return {rows.end() - count, rows.end()};
}

// A pass under construction; all rows of every work are wanted unless said otherwise.
class PassBuilder {
 public:
  explicit PassBuilder(const TestNetwork& network) : network_(network) {}

  int add(Memory& memory, const Tokens& tokens, std::vector<int> wanted) {
    Entry& entry = entries_.emplace_back();
    entry.tokens = tokens;
    entry.wanted = std::move(wanted);
    entry.rows = std::make_unique<HiddenRows>(network_.backbone().traits().width);
    entry.memory = &memory;
    return count_of(entries_) - 1;
  }
  int add(Memory& memory, const Tokens& tokens) {
    return add(memory, tokens, all_of(count_of(tokens)));
  }

  void run() {
    std::vector<Work> works;
    for (const Entry& entry : entries_) {
      works.push_back({entry.memory, {.tokens = entry.tokens}, entry.wanted, entry.rows.get()});
    }
    const Status status = network_.backbone().extend(works, {});
    ASSERT_TRUE(status.ok()) << status.error().message();
  }

  Bits rows(int index) const { return bits_of(*entries_[at(index)].rows); }

 private:
  struct Entry {
    Memory* memory;
    Tokens tokens;
    std::vector<int> wanted;
    std::unique_ptr<HiddenRows> rows;
  };
  const TestNetwork& network_;
  std::vector<Entry> entries_;
};

}  // namespace

// Every sample in every instruction set of this machine, exact and rounded. (Products of whole
// numbers obey the laws in nn/matmul_test.cc, and in tests/gates/ on files that hold them.)
class Conformance : public ::testing::TestWithParam<std::tuple<int, int, Precision>> {
 protected:
  TestNetwork open(int thread_count) const {
    return TestNetwork(
        sample_,
        {.level = level_, .thread_count = thread_count, .precision = std::get<2>(GetParam())});
  }
  const Sample& sample_ = samples()[at(std::get<0>(GetParam()))];
  const char* level_ = kernel::available_levels().names[std::get<1>(GetParam())];
  const TestNetwork network_ = open(2);
};

TEST_P(Conformance, CompanyDoesNotChangeARow) {
  const Tokens first = prompt(9, 1), second = prompt(37, 2), third = prompt(1, 3);
  const auto a = network_.begin(9), b = network_.begin(37), c = network_.begin(1);
  PassBuilder pass(network_);
  pass.add(*a, first);
  pass.add(*b, second, {0, 1, 5, 36});
  pass.add(*c, third);
  pass.run();
  EXPECT_EQ(pass.rows(0), alone(network_, first, 9));
  const Bits all = alone(network_, second, 37);
  EXPECT_EQ(pass.rows(1), (Bits{all[0], all[1], all[5], all[36]}));
  EXPECT_EQ(pass.rows(2), alone(network_, third, 1));
}

TEST_P(Conformance, WantedRowsDoNotDependOnWhatElseIsWanted) {
  const Tokens tokens = prompt(12, 4);
  const Bits all = alone(network_, tokens, 12);
  for (const std::vector<int>& wanted : {std::vector<int>{11}, {0}, {3, 4, 9}}) {
    for (const bool continued : {false, true}) {
      const auto memory = network_.begin(12, nullptr, continued);
      Bits expected;
      for (const int index : wanted) expected.push_back(all[at(index)]);
      EXPECT_EQ(bits_of(network_.extend(*memory, {.tokens = tokens}, wanted)), expected);
    }
  }
}

TEST_P(Conformance, ManyCallsAreOneCall) {
  const Tokens tokens = prompt(11, 5);
  const Bits all = alone(network_, tokens, 11);
  for (int step = 1; step < 11; ++step) {
    const auto memory = network_.begin(11);
    Bits found;
    for (int begin = 0; begin < 11; begin += step) {
      const int count = std::min(step, 11 - begin);
      const Tokens piece(tokens.begin() + begin, tokens.begin() + begin + count);
      const HiddenRows rows = network_.extend(*memory, {.tokens = piece}, all_of(count));
      for (std::vector<float>& row : bits_of(rows)) found.push_back(std::move(row));
    }
    EXPECT_EQ(found, all) << "in pieces of " << step;
    EXPECT_EQ(memory->length(), 11);
  }
}

TEST_P(Conformance, UnreadPiecesLeaveTheirMemory) {
  const Tokens tokens = prompt(11, 6);
  const Bits last = alone(network_, tokens, 1);
  for (int cut = 1; cut < 11; ++cut) {
    const auto memory = network_.begin(11);
    const Tokens first(tokens.begin(), tokens.begin() + cut);
    const Tokens second(tokens.begin() + cut, tokens.end());
    EXPECT_EQ(network_.extend(*memory, {.tokens = first}, {}).count(), 0);
    const std::vector<int> wanted = {10 - cut};
    EXPECT_EQ(bits_of(network_.extend(*memory, {.tokens = second}, wanted)), last) << cut;
  }
}

// Root of five tokens, two children, a grandchild under the first, an empty memory between.
class Tree {
 public:
  explicit Tree(const TestNetwork& network)
      : network_(network),
        root_(network.begin(5, nullptr, true)),
        first_(network.begin(2, root_, true)),
        second_(network.begin(7, root_)),
        empty_(network.begin(0, first_, true)),
        grandchild_(network.begin(3, empty_)) {}

  void check(const std::vector<std::vector<int>>& passes) {
    const std::vector<Memory*> memories = {root_.get(), first_.get(), second_.get(),
                                           grandchild_.get()};
    const Tokens tokens[] = {prompt(5, 7), prompt(2, 8), prompt(7, 9), prompt(3, 10)};
    const Tokens wholes[] = {tokens[0], joined({tokens[0], tokens[1]}),
                             joined({tokens[0], tokens[2]}),
                             joined({tokens[0], tokens[1], tokens[3]})};
    for (const std::vector<int>& members : passes) {
      PassBuilder pass(network_);
      for (const int node : members) {
        // Inner nodes are read in part only, so that the last layer works for their children.
        const int count = count_of(tokens[node]);
        pass.add(*memories[at(node)], tokens[node],
                 node == 0 ? std::vector<int>{} : std::vector<int>{count - 1});
      }
      pass.run();
      for (int i = 0; i < count_of(members); ++i) {
        const int node = members[at(i)];
        if (node == 0) continue;
        EXPECT_EQ(pass.rows(i), alone(network_, wholes[node], 1)) << "node " << node;
        EXPECT_EQ(memories[at(node)]->length(), count_of(wholes[node]));
      }
    }
  }

 private:
  const TestNetwork& network_;
  std::shared_ptr<Memory> root_, first_, second_, empty_, grandchild_;
};

TEST_P(Conformance, AForkIsNoDifferentFromAWholePrompt) {
  Tree(network_).check({{0, 1, 2, 3}});        // all in one pass
  Tree(network_).check({{0}, {1}, {2}, {3}});  // each in its own
  Tree(network_).check({{0}, {2, 1, 3}});
  Tree(network_).check({{0, 1}, {3, 2}});
}

TEST_P(Conformance, TheNumberOfThreadsDoesNotChangeARow) {
  const Tokens tokens = prompt(70, 11);
  const Bits two = alone(network_, tokens, 70);
  for (const int thread_count : {1, 3}) {
    const TestNetwork other = open(thread_count);
    EXPECT_EQ(alone(other, tokens, 70), two) << thread_count << " threads";
  }
}

TEST_P(Conformance, EmbeddingRowsStandForTokens) {
  const Tokens tokens = prompt(8, 12);
  const int width = network_.backbone().traits().width;
  BellWeights weights;
  const Matrix table = weights.matrix("token_embd.weight", 97, width).value();
  std::vector<float> embeddings;
  for (const Token token : tokens) {
    const auto* row = reinterpret_cast<const float*>(weights.acquire(table, token, 1));
    embeddings.insert(embeddings.end(), row, row + width);
  }
  const auto memory = network_.begin(8);
  EXPECT_EQ(bits_of(network_.extend(*memory, {.embeddings = embeddings}, all_of(8))),
            alone(network_, tokens, 8));
}

TEST_P(Conformance, PositionsThatFollowTheMemoryMayBeGivenOrLeftOut) {
  const Tokens tokens = prompt(10, 13);
  const std::vector<int> positions = all_of(10);
  const auto memory = network_.begin(10);
  const Bits given =
      bits_of(network_.extend(*memory, {.tokens = tokens, .positions = positions}, all_of(10)));
  EXPECT_EQ(given, alone(network_, tokens, 10));

  std::vector<int> far = positions;
  for (int& position : far) position = 2 * position + 1;
  const auto other = network_.begin(10);
  EXPECT_NE(bits_of(network_.extend(*other, {.tokens = tokens, .positions = far}, all_of(10)))[9],
            given[9]);
}

INSTANTIATE_TEST_SUITE_P(All, Conformance,
                         ::testing::Combine(::testing::Range(0, count_of(samples())),
                                            ::testing::Range(0, kernel::available_levels().count),
                                            ::testing::Values(Precision::f32, Precision::bf16)),
                         [](const auto& law) {
                           const bool exact = std::get<2>(law.param) == Precision::f32;
                           return samples()[at(std::get<0>(law.param))].name + "_" +
                                  kernel::available_levels().names[std::get<1>(law.param)] +
                                  (exact ? "" : "_bf16");
                         });

// What does not depend on the instruction set.
class Contract : public ::testing::TestWithParam<int> {
 protected:
  const Sample& sample_ = samples()[at(GetParam())];
  const TestNetwork network_{sample_};

  Error refusal(const Input& input) {
    const auto memory = network_.begin(8);
    const std::vector<int> wanted = {0};
    HiddenRows rows(network_.backbone().traits().width);
    const Work work{memory.get(), input, wanted, &rows};
    Status status = network_.backbone().extend({&work, 1}, {});
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(memory->length(), 0);
    return status.ok() ? Error(ErrorKind::internal, "accepted") : std::move(status).error();
  }
};

TEST_P(Contract, WhatACausalNetworkCannotDoIsRefused) {
  const Tokens tokens = prompt(3, 1);
  const std::vector<int> types = {0, 0, 0};
  EXPECT_EQ(refusal({.tokens = tokens, .causal = false}).kind, ErrorKind::not_supported);
  EXPECT_EQ(refusal({.tokens = tokens, .token_types = types}).kind, ErrorKind::not_supported);
  const Tokens foreign = {1, 97, 2};
  EXPECT_EQ(refusal({.tokens = foreign}).message(), "token 97 of a vocabulary of 97");
  const Tokens negative = {-1};
  EXPECT_EQ(refusal({.tokens = negative}).kind, ErrorKind::bad_request);
}

TEST_P(Contract, APassThatNobodyReadsSucceeds) {
  const Tokens tokens = prompt(3, 1);
  const auto memory = network_.begin(3);
  EXPECT_EQ(network_.extend(*memory, {.tokens = tokens}, {}).count(), 0);
  EXPECT_EQ(memory->length(), 3);
}

TEST_P(Contract, AStopEndsThePass) {
  std::stop_source source;
  source.request_stop();
  const auto memory = network_.begin(3);
  const Tokens tokens = prompt(3, 1);
  const Work work{memory.get(), {.tokens = tokens}, {}, nullptr};
  const Status status = network_.backbone().extend({&work, 1}, source.get_token());
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::cancelled);
}

TEST_P(Contract, TraitsAreWhatKeysSayAndMemoriesCost) {
  const BackboneTraits& traits = network_.backbone().traits();
  const BackboneEntry* entry =
      find_backbone(sample_.metadata.string("general.architecture").value());
  const BackboneTraits read = entry->read_traits(sample_.metadata).value();
  EXPECT_EQ(read.name, entry->name);
  EXPECT_EQ(read.width, traits.width);
  EXPECT_EQ(read.memory_bytes_per_token, traits.memory_bytes_per_token);
  EXPECT_EQ(read.memory_bytes_fixed, traits.memory_bytes_fixed);
  EXPECT_EQ(read.positions_max, 512);
  EXPECT_EQ(read.vocabulary_count, 97);
  EXPECT_TRUE(read.causal);

  const auto continued = network_.begin(4, nullptr, true);
  const auto leaf = network_.begin(4);
  const Tokens tokens = prompt(4, 1);
  network_.extend(*continued, {.tokens = tokens}, {});
  network_.extend(*leaf, {.tokens = tokens}, all_of(4));
  EXPECT_EQ(continued->bytes(), 4 * traits.memory_bytes_per_token + traits.memory_bytes_fixed);
  EXPECT_EQ(leaf->bytes(), 4 * traits.memory_bytes_per_token);
}

TEST_P(Contract, EveryMissingTensorIsNamed) {
  const BackboneEntry* entry =
      find_backbone(sample_.metadata.string("general.architecture").value());
  for (const char* name : {"token_embd.weight", "output_norm.weight", "blk.1.attn_norm.weight"}) {
    BellWeights weights;
    weights.lose(name);
    NetContext net = network_.net();
    net.weights = &weights;
    const auto opened = entry->open(sample_.metadata, net, {});
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().message(), std::string(name) + " is missing");
  }
}

TEST_P(Contract, FusedTensorsAreTheirParts) {
  ASSERT_FALSE(sample_.fusible.empty());
  auto weights = std::make_unique<BellWeights>();
  for (const auto& [name, parts] : sample_.fusible) weights->fuse(name, parts);
  const TestNetwork fused(sample_, std::move(weights));
  const Tokens tokens = prompt(9, 14);
  EXPECT_EQ(alone(fused, tokens, 9), alone(network_, tokens, 9));
}

INSTANTIATE_TEST_SUITE_P(All, Contract, ::testing::Range(0, count_of(samples())),
                         [](const auto& made) { return samples()[at(made.param)].name; });

}  // namespace adjudge::testing
