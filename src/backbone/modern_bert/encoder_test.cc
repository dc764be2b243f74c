// Laws of a network whose rows see their whole sequence, bit for bit, and what it refuses.
#include "backbone/modern_bert/encoder.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "backbone/modern_bert/test_encoder.h"

namespace adjudge::testing {

namespace {

using Bits = std::vector<std::vector<float>>;  // rows

Bits bits_of(const HiddenRows& rows) {
  Bits bits;
  for (int i = 0; i < rows.count(); ++i) bits.emplace_back(rows.row(i).begin(), rows.row(i).end());
  return bits;
}

// Sixteen sequences of every sort of length: below and above the window, a tile, a panel.
std::vector<Tokens> company() {
  std::vector<Tokens> sequences;
  for (const int count : {1, 2, 7, 8, 9, 16, 17, 31, 33, 64, 95, 97, 3, 40, 128, 5}) {
    sequences.push_back(some_tokens(count, 97, count_of(sequences) + 1));
  }
  return sequences;
}

std::vector<int> all_of(const Tokens& tokens) {
  std::vector<int> wanted(tokens.size());
  std::iota(wanted.begin(), wanted.end(), 0);
  return wanted;
}

// The rows of all sequences evaluated in one pass.
std::vector<Bits> together(const TestNetwork& network, const std::vector<Tokens>& sequences) {
  std::vector<std::unique_ptr<Memory>> memories;
  std::vector<HiddenRows> rows(sequences.size(), HiddenRows(network.backbone().traits().width));
  std::vector<std::vector<int>> wanted;
  for (const Tokens& tokens : sequences) wanted.push_back(all_of(tokens));
  std::vector<Work> works;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    memories.push_back(network.begin(count_of(sequences[i])));
    works.push_back(
        {memories.back().get(), {.tokens = sequences[i], .causal = false}, wanted[i], &rows[i]});
  }
  const Status status = network.backbone().extend(works, {});
  EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().message());
  std::vector<Bits> bits;
  for (const HiddenRows& own : rows) bits.push_back(bits_of(own));
  return bits;
}

}  // namespace

// Every sample in every instruction set of this machine.
class EncoderLaws : public ::testing::TestWithParam<std::tuple<int, int>> {
 protected:
  TestNetwork network(int thread_count) const {
    return TestNetwork(sample_, {.level = level_, .thread_count = thread_count, .rows_max = 1024});
  }
  const Sample& sample_ = encoder_samples()[at(std::get<0>(GetParam()))];
  const char* level_ = kernel::available_levels().names[std::get<1>(GetParam())];
};

TEST_P(EncoderLaws, CompanyDoesNotChangeARow) {
  const TestNetwork net = network(2);
  const std::vector<Tokens> sequences = company();
  const std::vector<Bits> found = together(net, sequences);
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    EXPECT_EQ(found[i], bits_of(whole_sequence(net, sequences[i]))) << "sequence " << i;
  }
  const std::vector<Tokens> reversed(sequences.rbegin(), sequences.rend());
  std::vector<Bits> backwards = together(net, reversed);
  std::ranges::reverse(backwards);
  EXPECT_EQ(backwards, found);
}

TEST_P(EncoderLaws, TheNumberOfThreadsDoesNotChangeARow) {
  const std::vector<Bits> two = together(network(2), company());
  EXPECT_EQ(together(network(1), company()), two);
  EXPECT_EQ(together(network(3), company()), two);
}

TEST_P(EncoderLaws, WantedRowsDoNotDependOnWhatElseIsWanted) {
  const TestNetwork net = network(2);
  const Tokens tokens = some_tokens(30, 97);
  const Bits all = bits_of(whole_sequence(net, tokens));
  const std::vector<int> wanted = {0, 7, 29};
  const auto memory = net.begin(30);
  const Bits some = bits_of(net.extend(*memory, {.tokens = tokens, .causal = false}, wanted));
  EXPECT_EQ(some, (Bits{all[0], all[7], all[29]}));
  EXPECT_EQ(memory->length(), 30);
}

INSTANTIATE_TEST_SUITE_P(All, EncoderLaws,
                         ::testing::Combine(::testing::Range(0, count_of(encoder_samples())),
                                            ::testing::Range(0, kernel::available_levels().count)),
                         [](const auto& law) {
                           return encoder_samples()[at(std::get<0>(law.param))].name + "_" +
                                  kernel::available_levels().names[std::get<1>(law.param)];
                         });

TEST(Encoder, EveryRowSeesLaterTokensToo) {
  const TestNetwork net(encoder_samples().front());
  Tokens tokens = some_tokens(30, 97);
  const Bits before = bits_of(whole_sequence(net, tokens));
  tokens[29] = (tokens[29] + 1) % 97;
  const Bits after = bits_of(whole_sequence(net, tokens));
  for (int i = 0; i < 30; ++i) EXPECT_NE(before[at(i)], after[at(i)]) << i;
}

TEST(Encoder, ASequenceOverOnePassGrowsTheScratchAndKeepsIt) {
  const Sample& sample = encoder_samples().front();
  const TestNetwork small(sample, {.rows_max = 8}), large(sample, {.rows_max = 200});
  const std::size_t before = small.backbone().scratch_bytes();
  EXPECT_EQ(large.backbone().scratch_bytes(), 25 * before);
  const Tokens tokens = some_tokens(200, 97);
  EXPECT_EQ(bits_of(whole_sequence(small, tokens)), bits_of(whole_sequence(large, tokens)));
  EXPECT_EQ(small.backbone().scratch_bytes(), 25 * before);
  EXPECT_EQ(large.backbone().scratch_bytes(), 25 * before);
  whole_sequence(small, some_tokens(3, 97));
  EXPECT_EQ(small.backbone().scratch_bytes(), 25 * before);
}

TEST(Encoder, WhatItCannotDoIsRefused) {
  const TestNetwork net(encoder_samples().front());
  const Tokens tokens = {1, 2}, foreign = {1, 97};
  const std::vector<int> types = {0, 0}, axes = {0, 1, 0, 1, 0, 1};
  const auto refusal = [&](const Input& input) {
    const auto memory = net.begin(4);
    const Work work{memory.get(), input, {}, nullptr};
    const Status status = net.backbone().extend({&work, 1}, {});
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(memory->length(), 0);
    return status.ok() ? ErrorKind::internal : status.error().kind;
  };
  EXPECT_EQ(refusal({.tokens = tokens}), ErrorKind::not_supported);
  EXPECT_EQ(refusal({.tokens = tokens, .token_types = types, .causal = false}),
            ErrorKind::not_supported);
  EXPECT_EQ(refusal({.tokens = tokens, .positions = axes, .causal = false}),
            ErrorKind::not_supported);
  EXPECT_EQ(refusal({.tokens = foreign, .causal = false}), ErrorKind::bad_request);
}

TEST(Encoder, ASecondWorkOfASequenceIsRefused) {
  const TestNetwork net(encoder_samples().front());
  const Tokens tokens = {1, 2};
  const auto memory = net.begin(4);
  net.extend(*memory, {.tokens = tokens, .causal = false}, {});
  const Work work{memory.get(), {.tokens = tokens, .causal = false}, {}, nullptr};
  const Status status = net.backbone().extend({&work, 1}, {});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::not_supported);
}

TEST(Encoder, AStopEndsThePass) {
  const TestNetwork net(encoder_samples().front());
  std::stop_source source;
  source.request_stop();
  const Tokens tokens = {1, 2};
  const auto memory = net.begin(2);
  const Work work{memory.get(), {.tokens = tokens, .causal = false}, {}, nullptr};
  const Status status = net.backbone().extend({&work, 1}, source.get_token());
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::cancelled);
}

TEST(Encoder, RowsMayStandForTokensAndPositionsMayBeGiven) {
  const TestNetwork net(encoder_samples().front());
  const Tokens tokens = some_tokens(6, 97);
  BellWeights weights;
  const Matrix table = weights.matrix("token_embd.weight", 97, 60).value();
  std::vector<float> embeddings;
  for (const Token token : tokens) {
    const auto* row = reinterpret_cast<const float*>(weights.acquire(table, token, 1));
    embeddings.insert(embeddings.end(), row, row + 60);
  }
  const std::vector<int> positions = {0, 1, 2, 3, 4, 5};
  const auto memory = net.begin(6);
  const Input input{.embeddings = embeddings, .positions = positions, .causal = false};
  EXPECT_EQ(bits_of(net.extend(*memory, input, positions)), bits_of(whole_sequence(net, tokens)));
}

TEST(Encoder, TraitsAreWhatKeysSay) {
  const BackboneTraits traits =
      find_backbone("modern-bert")->read_traits(encoder_samples().front().metadata).value();
  EXPECT_EQ(traits.name, "modern-bert");
  EXPECT_EQ(traits.layer_count, 4);  // without the blocks of the head
  EXPECT_EQ(traits.width, 60);
  EXPECT_EQ(traits.positions_max, 512);
  EXPECT_FALSE(traits.causal);
  EXPECT_EQ(traits.memory_bytes_per_token, 0u);
}

TEST(Encoder, KeysThatCannotBeAreNamed) {
  const gguf::Metadata& good = encoder_samples().front().metadata;
  const std::string prefix = "modern-bert.";
  const std::vector<std::pair<std::string, gguf::MetaValue>> wrong = {
      {"decision.block_count", std::int64_t{6}},
      {"attention.head_count", std::int64_t{7}},
      {"attention.head_count", std::int64_t{60}},
      {"attention.causal", true},
      {"hidden_activation", std::string_view("tanh")},
      {"feed_forward_length", std::vector<std::int64_t>{34, 34}},
      {"feed_forward_length", std::vector<std::int64_t>{34, 0, 34, 34}},
      {"attention.sliding_window_pattern", std::vector<bool>{true}},
      {"attention.layer_norm_epsilon", -1.0},
      {"rope.scaling.type", std::string_view("yarn")}};
  for (const auto& [key, value] : wrong) {
    const auto refused = find_backbone("modern-bert")->read_traits(with(good, prefix + key, value));
    ASSERT_FALSE(refused.ok()) << key;
    EXPECT_NE(refused.error().message().find(prefix + key), std::string::npos)
        << refused.error().message();
  }
}

TEST(Encoder, EveryMissingTensorIsNamed) {
  const Sample& sample = encoder_samples().front();
  const TestNetwork net(sample);
  for (const char* name :
       {"token_embd.weight", "token_embd_norm.weight", "output_norm.weight",
        "blk.1.attn_norm.weight", "blk.0.attn_qkv.weight", "blk.3.ffn_down.weight"}) {
    BellWeights weights;
    weights.lose(name);
    NetContext context = net.net();
    context.weights = &weights;
    const auto opened = find_backbone("modern-bert")->open(sample.metadata, context, {});
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().message(), std::string(name) + " is missing");
  }
}

}  // namespace adjudge::testing
