#include "backbone/sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "backbone/registry.h"
#include "base/size.h"
#include "base/try.h"
#include "support/support.h"

namespace adjudge::testing {

namespace {

// Sizes that keep the rows of a random network near one.
float scale_of(std::string_view name, int columns) {
  if (name == "token_embd.weight") return 1.0f;
  return 1.0f / std::sqrt(static_cast<float>(columns));
}

bool ends_with(std::string_view name, std::string_view end) { return name.ends_with(end); }

float vector_value(std::string_view name, float bell_value) {
  if (ends_with(name, "_norm.weight")) return 1.0f + 0.15f * bell_value;
  if (ends_with(name, "ssm_a")) return -0.3f * std::exp(bell_value);
  if (ends_with(name, "ssm_dt.bias")) return 0.5f * bell_value - 0.5f;
  if (ends_with(name, "ssm_conv1d.weight")) return 0.6f * bell_value;
  return 0.3f * bell_value;
}

using Integers = std::vector<std::pair<std::string, std::int64_t>>;

Sample sample(std::string name, const std::string& architecture, const Integers& integers) {
  Sample made;
  made.name = std::move(name);
  static const std::string kNames[] = {"qwen2", "qwen3", "qwen35", "qwen35moe", "modern-bert"};
  for (const std::string& known : kNames) {  // strings are borrowed: these live on
    if (known == architecture) made.metadata.add("general.architecture", std::string_view(known));
  }
  made.metadata.add(architecture + ".attention.layer_norm_rms_epsilon", 1e-6);
  made.metadata.add(architecture + ".rope.freq_base", 10000.0);
  for (const auto& [key, value] : integers) made.metadata.add(architecture + "." + key, value);
  return made;
}

void fuse_attention(Sample& made, int layer, int query_rows, int rows,
                    const std::string& kind = ".weight") {
  const std::string block = "blk." + std::to_string(layer) + ".";
  made.fusible[block + "attn_qkv" + kind] = {{block + "attn_q" + kind, query_rows},
                                             {block + "attn_k" + kind, rows},
                                             {block + "attn_v" + kind, rows}};
}

Integers dense_keys() {
  return {{"block_count", 3},
          {"context_length", 512},
          {"embedding_length", 60},
          {"feed_forward_length", 90},
          {"attention.head_count", 6},
          {"vocab_size", 97},
          {"attention.head_count_kv", 2}};
}

Integers hybrid_keys() {
  return {{"block_count", 4},
          {"context_length", 512},
          {"embedding_length", 60},
          {"feed_forward_length", 90},
          {"attention.head_count", 4},
          {"vocab_size", 97},
          {"attention.head_count_kv", 2},
          {"attention.key_length", 24},
          {"attention.value_length", 24},
          {"rope.dimension_count", 12},
          {"ssm.conv_kernel", 4},
          {"ssm.state_size", 20},
          {"ssm.group_count", 2},
          {"ssm.time_step_rank", 6},
          {"ssm.inner_size", 120}};
}

std::vector<Sample> make_samples() {
  std::vector<Sample> all;
  all.push_back(sample("qwen2", "qwen2", dense_keys()));
  for (int layer = 0; layer < 3; ++layer) {
    fuse_attention(all.back(), layer, 60, 20);
    fuse_attention(all.back(), layer, 60, 20, ".bias");
  }

  Integers keys = dense_keys();
  keys.insert(keys.end(), {{"attention.key_length", 26}, {"attention.value_length", 26}});
  all.push_back(sample("qwen3", "qwen3", keys));
  fuse_attention(all.back(), 1, 156, 52);

  // Attention last, by the interval; recurrence last, by the flags.
  all.push_back(sample("qwen35_attention_last", "qwen35", hybrid_keys()));
  fuse_attention(all.back(), 3, 192, 48);
  all.push_back(sample("qwen35_recurrence_last", "qwen35", hybrid_keys()));
  fuse_attention(all.back(), 0, 192, 48);
  all.back().metadata.add("qwen35.attention.recurrent_layers",
                          std::vector<bool>{false, true, false, true});
  for (Sample& made : std::span(all).last(2)) {
    made.metadata.add("qwen35.rope.dimension_sections", std::vector<std::int64_t>{2, 2, 2, 0});
  }

  keys = hybrid_keys();
  keys.insert(keys.end(), {{"expert_count", 7},
                           {"expert_used_count", 3},
                           {"expert_feed_forward_length", 34},
                           {"expert_shared_feed_forward_length", 50},
                           {"full_attention_interval", 3}});
  all.push_back(sample("qwen35moe", "qwen35moe", keys));
  all.back().metadata = without(all.back().metadata, "qwen35moe.feed_forward_length");
  for (int layer = 0; layer < 4; ++layer) {
    const std::string block = "blk." + std::to_string(layer) + ".";
    all.back().fusible[block + "ffn_gate_up_exps.weight"] = {{block + "ffn_gate_exps.weight", 34},
                                                             {block + "ffn_up_exps.weight", 34}};
  }
  return all;
}

// Two global layers and two that see eight rows on each side, and head blocks nobody here runs.
Sample windowed_encoder(std::string name) {
  Sample made = sample(std::move(name), "modern-bert",
                       {{"block_count", 6},
                        {"decision.block_count", 2},
                        {"context_length", 512},
                        {"embedding_length", 60},
                        {"attention.head_count", 6},
                        {"vocab_size", 97},
                        {"attention.sliding_window", 16}});
  made.metadata.add("modern-bert.attention.layer_norm_epsilon", 1e-5);
  made.metadata.add("modern-bert.attention.causal", false);
  made.metadata.add("modern-bert.rope.freq_base_swa", 100.0);
  return made;
}

std::vector<Sample> make_encoder_samples() {
  std::vector<Sample> all;
  all.push_back(windowed_encoder("modern_bert"));
  all.back().metadata.add("modern-bert.feed_forward_length",
                          std::vector<std::int64_t>{34, 50, 34, 34, 240, 240});
  all.push_back(windowed_encoder("modern_bert_silu"));
  gguf::Metadata& metadata = all.back().metadata;
  metadata.add("modern-bert.feed_forward_length", std::int64_t{90});
  metadata.add("modern-bert.hidden_activation", std::string_view("silu"));
  metadata.add("modern-bert.attention.sliding_window_pattern",
               std::vector<bool>{true, false, false, true, false, false});
  return all;
}

}  // namespace

Status BellWeights::check(std::string_view name) const {
  if (name == lost_) return Error{ErrorKind::bad_model, std::string(name) + " is missing"};
  return Done{};
}

Matrix BellWeights::add(const std::string& name, int rows, int columns) {
  const std::string tensor = name.substr(0, name.find('/'));
  const std::string slice = name.substr(tensor.size());
  const auto fused = fused_.find(tensor);
  const Parts parts = fused == fused_.end() ? Parts{{tensor, rows}} : fused->second;
  std::vector<float>& values = matrices_.emplace_back();
  for (const auto& [part, part_rows] : parts) {
    std::vector<float> some = bell(part + slice, at(part_rows) * at(columns));
    for (float& value : some) value *= scale_of(part, columns);
    values.insert(values.end(), some.begin(), some.end());
  }
  CHECK(values.size() == at(rows) * at(columns));
  return {.rows = rows,
          .columns = columns,
          .row_bytes = at(columns) * sizeof(float),
          .handle = count_of(matrices_) - 1};
}

Result<Matrix> BellWeights::matrix(std::string_view name, int rows, int columns) {
  ADJ_TRY_DONE(check(name));
  return add(std::string(name), rows, columns);
}

Result<std::vector<Matrix>> BellWeights::matrices(std::string_view name, int count, int rows,
                                                  int columns) {
  ADJ_TRY_DONE(check(name));
  std::vector<Matrix> stack;
  for (int i = 0; i < count; ++i) {
    stack.push_back(add(std::string(name) + "/" + std::to_string(i), rows, columns));
  }
  return stack;
}

Result<std::span<const float>> BellWeights::vector(std::string_view name, int count) {
  ADJ_TRY_DONE(check(name));
  std::vector<float>& values = vectors_[std::string(name)];
  values.clear();
  const auto fused = fused_.find(std::string(name));
  const Parts parts = fused == fused_.end() ? Parts{{std::string(name), count}} : fused->second;
  for (const auto& [part, part_count] : parts) {
    for (const float value : bell(part, at(part_count)))
      values.push_back(vector_value(part, value));
  }
  CHECK(count_of(values) == count);
  return std::span<const float>(values);
}

const std::byte* BellWeights::acquire(const Matrix& matrix, int begin, int) const {
  return reinterpret_cast<const std::byte*>(matrices_[at(matrix.handle)].data()) +
         at(matrix.first_row + begin) * matrix.row_bytes;
}

const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = make_samples();
  return all;
}

const std::vector<Sample>& encoder_samples() {
  static const std::vector<Sample> all = make_encoder_samples();
  return all;
}

gguf::Metadata without(const gguf::Metadata& metadata, std::string_view key) {
  gguf::Metadata kept;
  for (const auto& [name, value] : metadata.entries()) {
    if (name != key) kept.add(name, value);
  }
  return kept;
}

gguf::Metadata with(const gguf::Metadata& metadata, std::string_view key, gguf::MetaValue value) {
  gguf::Metadata changed = without(metadata, key);
  changed.add(key, std::move(value));
  return changed;
}

TEST(Samples, CoverEveryBackbone) {
  for (const BackboneEntry& entry : backbones()) {
    const auto is_of_entry = [&](const Sample& made) {
      return entry.claims(made.metadata.string("general.architecture").value());
    };
    const bool covered = std::ranges::any_of(samples(), is_of_entry) ||
                         std::ranges::any_of(encoder_samples(), is_of_entry);
    EXPECT_TRUE(covered) << entry.name << " has no sample";
  }
}

}  // namespace adjudge::testing
