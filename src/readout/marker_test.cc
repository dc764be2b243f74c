#include "readout/marker.h"

#include <cmath>

#include "readout/test_head.h"

namespace adjudge {
namespace {

using namespace testing;

constexpr int kWidth = 20;  // no multiple of a vector
constexpr int kHeads = 2;
constexpr int kInner = 28;
constexpr int kTrunkBlocks = 3;
constexpr int kHeadBlocks = 2;

std::vector<float> values(const std::string& name, int count, float scale) {
  std::vector<float> made = bell(name, at(count));
  for (float& value : made) value *= scale;
  return made;
}
std::vector<float> matrix(const std::string& name, int rows, int columns) {
  return values(name, rows * columns, 1.0f / std::sqrt(static_cast<float>(columns)));
}
std::vector<float> bias(const std::string& name, int count) {
  return values(name + ".bias", count, 0.3f);
}
std::vector<float> norm(const std::string& name) {
  std::vector<float> made = values(name, kWidth, 0.2f);
  for (float& value : made) value += 1.0f;
  return made;
}

GgufWriter file() {
  GgufWriter writer("modern-bert");
  writer.integer("modern-bert.block_count", kTrunkBlocks + kHeadBlocks)
      .integer("modern-bert.decision.block_count", kHeadBlocks)
      .integer("modern-bert.attention.head_count", kHeads)
      .real("modern-bert.attention.layer_norm_epsilon", 1e-5)
      .integers("modern-bert.feed_forward_length", {12, 12, 12, kInner, kInner});
  const auto add_matrix = [&](const std::string& name, int rows, int columns) {
    writer.tensor(name + ".weight", {columns, rows}, matrix(name, rows, columns));
    writer.tensor(name + ".bias", {rows}, bias(name, rows));
  };
  const auto add_norm = [&](const std::string& name) {
    writer.tensor(name + ".weight", {kWidth}, norm(name));
    writer.tensor(name + ".bias", {kWidth}, bias(name, kWidth));
  };
  for (int block = kTrunkBlocks; block < kTrunkBlocks + kHeadBlocks; ++block) {
    const std::string name = "blk." + std::to_string(block) + ".";
    add_norm(name + "attn_norm");
    add_matrix(name + "attn_qkv", 3 * kWidth, kWidth);
    add_matrix(name + "attn_output", kWidth, kWidth);
    add_norm(name + "ffn_norm");
    add_matrix(name + "ffn_up", kInner, kWidth);
    add_matrix(name + "ffn_down", kWidth, kInner);
  }
  writer.tensor("token_types.weight", {kWidth, 3}, values("types", 3 * kWidth, 0.5f));
  add_norm("cls.norm");
  add_matrix("cls", kWidth, kWidth);
  add_matrix("cls.output", 1, kWidth);
  return writer;
}

// The head in double precision: every row through every block.
class Twin {
 public:
  using Vector = std::vector<double>;

  static Vector logits(const HiddenRows& rows, std::span<const int> marks, int type) {
    std::vector<Vector> x;
    const std::vector<float> types = values("types", 3 * kWidth, 0.5f);
    for (int row = 0; row < rows.count(); ++row) {
      Vector& own = x.emplace_back(rows.row(row).begin(), rows.row(row).end());
      for (int i = 0; i < kWidth; ++i) own[at(i)] += types[at(type * kWidth + i)];
    }
    for (int block = kTrunkBlocks; block < kTrunkBlocks + kHeadBlocks; ++block) {
      apply_block("blk." + std::to_string(block) + ".", x);
    }
    Vector logits;
    for (const int mark : marks) {
      Vector hidden = product("cls", kWidth, normed("cls.norm", x[at(mark)]));
      for (double& value : hidden) value = 0.5 * value * (1 + std::erf(value / std::sqrt(2.0)));
      logits.push_back(product("cls.output", 1, hidden)[0]);
    }
    return logits;
  }

 private:
  static Vector product(const std::string& name, int rows, const Vector& x) {
    const std::vector<float> weight = matrix(name, rows, count_of(x)), shift = bias(name, rows);
    Vector out(at(rows));
    for (int r = 0; r < rows; ++r) {
      out[at(r)] = shift[at(r)];
      for (std::size_t i = 0; i < x.size(); ++i) out[at(r)] += weight[at(r) * x.size() + i] * x[i];
    }
    return out;
  }

  static Vector normed(const std::string& name, const Vector& x) {
    const std::vector<float> weight = norm(name), shift = bias(name, kWidth);
    double mean = 0, variance = 0;
    for (const double value : x) mean += value / kWidth;
    for (const double value : x) variance += (value - mean) * (value - mean) / kWidth;
    Vector out;
    for (std::size_t i = 0; i < x.size(); ++i) {
      out.push_back((x[i] - mean) / std::sqrt(variance + 1e-5) * weight[i] + shift[i]);
    }
    return out;
  }

  static void apply_block(const std::string& name, std::vector<Vector>& x) {
    std::vector<Vector> all;
    for (const Vector& row : x) {
      all.push_back(product(name + "attn_qkv", 3 * kWidth, normed(name + "attn_norm", row)));
    }
    for (std::size_t row = 0; row < x.size(); ++row) {
      add(x[row], product(name + "attn_output", kWidth, attended(all, row)));
      Vector inner = product(name + "ffn_up", kInner, normed(name + "ffn_norm", x[row]));
      for (double& value : inner) value = std::max(value, 0.0);
      add(x[row], product(name + "ffn_down", kWidth, inner));
    }
  }

  static Vector attended(const std::vector<Vector>& all, std::size_t row) {
    constexpr int kHeadWidth = kWidth / kHeads;
    Vector out(kWidth, 0.0);
    for (int head = 0; head < kHeads; ++head) {
      Vector weights;
      double sum = 0;
      for (const Vector& other : all) {
        double dot = 0;
        for (int i = head * kHeadWidth; i < (head + 1) * kHeadWidth; ++i) {
          dot += all[row][at(i)] * other[at(kWidth + i)];
        }
        sum += weights.emplace_back(std::exp(dot / std::sqrt(kHeadWidth)));
      }
      for (std::size_t k = 0; k < all.size(); ++k) {
        for (int i = head * kHeadWidth; i < (head + 1) * kHeadWidth; ++i) {
          out[at(i)] += weights[k] / sum * all[k][at(2 * kWidth + i)];
        }
      }
    }
    return out;
  }

  static void add(Vector& x, const Vector& y) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
  }
};

gguf::Metadata metadata() {
  gguf::Metadata keys;
  keys.add("general.architecture", std::string_view("modern-bert"));
  keys.add("modern-bert.block_count", std::int64_t{kTrunkBlocks + kHeadBlocks});
  keys.add("modern-bert.decision.block_count", std::int64_t{kHeadBlocks});
  keys.add("modern-bert.attention.head_count", std::int64_t{kHeads});
  keys.add("modern-bert.attention.layer_norm_epsilon", 1e-5);
  keys.add("modern-bert.feed_forward_length",
           std::vector<std::int64_t>{12, 12, 12, kInner, kInner});
  return keys;
}

struct Prompt {
  HiddenRows rows;
  std::vector<int> marks;
};

Prompt prompt(int row_count, std::vector<int> marks) {
  return {rows_of(bell("rows" + std::to_string(row_count), at(row_count * kWidth)), kWidth),
          std::move(marks)};
}

std::vector<std::vector<double>> read(TestHead& head, const std::vector<Prompt>& prompts,
                                      int type) {
  const auto opened = open_marker_head(metadata(), head.weights(), kWidth);
  EXPECT_TRUE(opened.ok()) << (opened.ok() ? "" : opened.error().message());
  std::vector<ReadoutInput> inputs;
  for (const Prompt& own : prompts) inputs.push_back({&own.rows, own.marks});
  return MarkerReadout(opened.value(), type).read(head.net(), inputs).value();
}

TEST(MarkerReadout, EqualsItsDoublePrecisionTwinForEveryKind) {
  TestHead head(file());
  const Prompt own = prompt(13, {2, 3, 9, 12});
  std::vector<double> of_first_kind;
  for (int type = 0; type < 3; ++type) {
    const std::vector<double> expected = Twin::logits(own.rows, own.marks, type);
    const std::vector<double> found = read(head, {own}, type)[0];
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5);
    EXPECT_NE(found, of_first_kind);
    of_first_kind = found;
  }
}

TEST(MarkerReadout, CompanyDoesNotChangeABit) {
  TestHead head(file());
  const std::vector<Prompt> prompts = {prompt(13, {2, 3, 9, 12}), prompt(1, {0}),
                                       prompt(600, {0, 599}),     prompt(97, {5, 96}),
                                       prompt(400, {17}),         prompt(31, {0, 1, 2, 30})};
  const auto together = read(head, prompts, 1);
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    EXPECT_EQ(together[i], read(head, {prompts[i]}, 1)[0]) << i;
  }
}

TEST(MarkerReadout, UnmarkedRowsAreSeen) {
  TestHead head(file());
  const Prompt whole = prompt(13, {2, 3});
  const Prompt shorter = {rows_of({whole.rows.row(0).data(), whole.rows.row(11).data()}, kWidth),
                          {2, 3}};
  EXPECT_NE(read(head, {whole}, 0), read(head, {shorter}, 0));
}

TEST(MarkerHead, NamesWhatAFileLacks) {
  GgufWriter writer("modern-bert");
  writer.tensor("token_types.weight", {kWidth, 3}, values("types", 3 * kWidth, 0.5f));
  TestHead head(writer);
  const auto no_block = open_marker_head(metadata(), head.weights(), kWidth);
  ASSERT_FALSE(no_block.ok());
  EXPECT_NE(no_block.error().message().find("blk.3.attn_norm.weight"), std::string::npos);
  const auto no_keys = open_marker_head({}, head.weights(), kWidth);
  ASSERT_FALSE(no_keys.ok());
  EXPECT_NE(no_keys.error().message().find("general.architecture"), std::string::npos);
}

}  // namespace
}  // namespace adjudge
