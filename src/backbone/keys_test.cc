#include "backbone/keys.h"

#include <gtest/gtest.h>

#include <limits>

#include "backbone/sample.h"
#include "backbone/test_network.h"

namespace adjudge::testing {

namespace {

const Sample& sample_named(std::string_view name) {
  for (const Sample& made : samples()) {
    if (made.name == name) return made;
  }
  CHECK(false);
}

std::string architecture_of(const gguf::Metadata& metadata) {
  return std::string(metadata.string("general.architecture").value());
}

// The message of opening a sample with one key changed; empty when it opens.
std::string refusal(const gguf::Metadata& metadata) {
  const BackboneEntry* entry = find_backbone(architecture_of(metadata));
  const kernel::Table kernels = kernel::make_table("scalar");
  WorkerPool pool(1);
  BellWeights weights;
  const NetContext net{&kernels, &pool, &weights};
  const auto traits = entry->read_traits(metadata);
  const auto opened = entry->open(metadata, net, {.rows_max = 4});
  EXPECT_EQ(traits.ok(), opened.ok());
  if (opened.ok()) return "";
  EXPECT_EQ(traits.error().message(), opened.error().message());
  return opened.error().message();
}

std::string refusal(const std::string& name, const std::string& key, gguf::MetaValue value) {
  const gguf::Metadata& metadata = sample_named(name).metadata;
  return refusal(with(metadata, architecture_of(metadata) + "." + key, std::move(value)));
}

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

}  // namespace

TEST(Keys, HostileIntegersAreRefusedByName) {
  for (const Sample& made : samples()) {
    const std::string architecture = architecture_of(made.metadata);
    for (const auto& [name, value] : made.metadata.entries()) {
      if (!std::holds_alternative<std::int64_t>(value)) continue;
      for (const std::int64_t hostile : {std::int64_t{-1}, kHuge, std::int64_t{0}}) {
        const std::string message = refusal(with(made.metadata, name, hostile));
        EXPECT_NE(message.find(name), std::string::npos)
            << made.name << ": " << name << " = " << hostile << ": " << message;
      }
    }
  }
}

TEST(Keys, WhatIsMissingIsNamed) {
  for (const char* key : {"block_count", "context_length", "embedding_length",
                          "attention.head_count", "attention.layer_norm_rms_epsilon"}) {
    for (const Sample& made : samples()) {
      const std::string name = architecture_of(made.metadata) + "." + key;
      const std::string message = refusal(without(made.metadata, name));
      EXPECT_NE(message.find(name), std::string::npos) << message;
    }
  }
}

TEST(Keys, SizesThatDoNotFitEachOtherAreRefused) {
  EXPECT_EQ(refusal("qwen2", "attention.head_count", std::int64_t{7}),
            "qwen2.attention.head_count: found 7, expected a multiple of the 2 of "
            "qwen2.attention.head_count_kv");
  EXPECT_EQ(refusal("qwen2", "attention.head_count", std::int64_t{8}),
            "qwen2.attention.head_count: found 8, expected a divisor of the width, 60");
  EXPECT_EQ(refusal("qwen3", "attention.value_length", std::int64_t{25}),
            "qwen3.attention.value_length: found 25, expected the width of a key, 26");
  EXPECT_EQ(refusal("qwen3", "rope.dimension_count", std::int64_t{28}),
            "qwen3.rope.dimension_count: found 28, expected an even number up to 26");
  EXPECT_EQ(refusal("qwen3", "rope.dimension_count", std::int64_t{13}),
            "qwen3.rope.dimension_count: found 13, expected an even number up to 26");
  EXPECT_EQ(refusal("qwen3", "nextn_predict_layers", std::int64_t{3}),
            "qwen3.nextn_predict_layers: found 3, expected fewer than the 3 of qwen3.block_count");
  EXPECT_EQ(refusal("qwen35_attention_last", "ssm.time_step_rank", std::int64_t{5}),
            "qwen35.ssm.time_step_rank: found 5, expected a multiple of the 2 of "
            "qwen35.ssm.group_count");
  EXPECT_EQ(refusal("qwen35_attention_last", "ssm.inner_size", std::int64_t{100}),
            "qwen35.ssm.inner_size: found 100, expected qwen35.ssm.time_step_rank * "
            "qwen35.ssm.state_size = 120");
  EXPECT_EQ(refusal("qwen35_attention_last", "rope.dimension_sections",
                    std::vector<std::int64_t>{11, 11, 10, 0}),
            "qwen35.rope.dimension_sections: found other numbers, expected times, heights and "
            "widths of 6 pairs");
  EXPECT_EQ(refusal("qwen35_attention_last", "attention.recurrent_layers",
                    std::vector<bool>{true, false}),
            "qwen35.attention.recurrent_layers: found 2 values, expected one for each of 4 layers");
}

TEST(Keys, StretchedPositionsAreRefused) {
  EXPECT_EQ(refusal("qwen2", "rope.scaling.type", std::string_view("yarn")),
            "qwen2.rope.scaling.type: found yarn, expected none");
  EXPECT_EQ(refusal("qwen2", "rope.scaling.factor", 4.0),
            "qwen2.rope.scaling.type: found linear, expected none");
  EXPECT_EQ(refusal("qwen2", "rope.scaling.type", std::string_view("none")), "");
}

TEST(Keys, LayersForSpeculationAreLeftOut) {
  const gguf::Metadata& metadata = sample_named("qwen35_attention_last").metadata;
  const gguf::Metadata longer = with(with(metadata, "qwen35.block_count", std::int64_t{5}),
                                     "qwen35.nextn_predict_layers", std::int64_t{1});
  EXPECT_EQ(find_backbone("qwen35")->read_traits(longer).value().layer_count, 4);
}

TEST(Keys, OddNumbersAreRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double epsilon : {nan, -1.0, 2.0}) {
    EXPECT_NE(refusal("qwen3", "attention.layer_norm_rms_epsilon", epsilon), "");
  }
  for (const double base : {nan, 0.0, -5.0, std::numeric_limits<double>::infinity()}) {
    EXPECT_NE(refusal("qwen3", "rope.freq_base", base), "");
  }
}

}  // namespace adjudge::testing
