#include "backbone/reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <sstream>
#include <string>

#include "backbone/registry.h"
#include "backbone/sample.h"
#include "backbone/test_network.h"
#include "base/size.h"
#include "gguf/file.h"
#include "json/value.h"
#include "nn/matmul.h"
#include "support/support.h"

namespace adjudge::testing {

namespace {

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
double silu(double x) { return x * sigmoid(x); }

Vector rms(const Vector& x, const Vector& weight, double epsilon) {
  double sum = 0;
  for (const double value : x) sum += value * value;
  Vector out(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    out[i] = x[i] / std::sqrt(sum / static_cast<double>(x.size()) + epsilon) * weight[i];
  }
  return out;
}

void softmax(Vector& x) {
  const double most = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (double& value : x) sum += value = std::exp(value - most);
  for (double& value : x) value /= sum;
}

void add_to(Vector& x, const Vector& y, double scale = 1.0) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += scale * y[i];
}

Vector part(const Vector& x, int begin, int count) {
  return {x.begin() + begin, x.begin() + begin + count};
}

class Network {
 public:
  Network(const gguf::Metadata& metadata, WeightSource& weights)
      : metadata_(metadata),
        weights_(weights),
        architecture_(metadata.string("general.architecture").value()),
        hybrid_(architecture_.starts_with("qwen35") || architecture_ == "clef"),
        width_(key("embedding_length")),
        epsilon_(metadata.real(architecture_ + ".attention.layer_norm_rms_epsilon").value()) {}

  ReferenceResult evaluate(const ReferenceInput& input) {
    std::vector<Vector> x = embed(input);
    positions_ = input.positions;
    if (positions_.empty()) {
      for (int axis = 0; axis < 3; ++axis) {
        for (int i = 0; i < count_of(x); ++i) positions_.push_back(i);
      }
    }
    const int layer_count = key("block_count") - key("nextn_predict_layers", 0);
    ReferenceResult result;
    for (int layer = 0; layer < layer_count; ++layer) {
      block_ = "blk." + std::to_string(layer) + ".";
      const std::vector<Vector> normed = norm_rows(x, block_ + "attn_norm.weight");
      const std::vector<Vector> mixed = recurrent(layer) ? delta_net(normed) : attention(normed);
      for (int i = 0; i < count_of(x); ++i) add_to(x[at(i)], mixed[at(i)]);
      const std::vector<Vector> rows =
          norm_rows(x, block_ + (hybrid_ ? "post_attention_norm.weight" : "ffn_norm.weight"));
      for (int i = 0; i < count_of(x); ++i) add_to(x[at(i)], feed(rows[at(i)]));
      result.layers.push_back(x);
    }
    result.rows = norm_rows(x, "output_norm.weight");
    return result;
  }

 private:
  int key(const std::string& name) const {
    return metadata_.integer(architecture_ + "." + name, 0, 1 << 30).value();
  }
  int key(const std::string& name, int fallback) const {
    return metadata_.has(architecture_ + "." + name) ? key(name) : fallback;
  }

  bool recurrent(int layer) const {
    if (!hybrid_) return false;
    const std::string flags = architecture_ + ".attention.recurrent_layers";
    if (metadata_.has(flags)) return metadata_.booleans(flags).value()[at(layer)];
    return (layer + 1) % key("full_attention_interval", 4) != 0;
  }

  // Decoded matrices, row by row; a stack of experts has one entry per expert.
  const std::vector<Vector>& matrix(const std::string& name, int rows, int columns, int slice = -1,
                                    int slice_count = 0) {
    std::vector<Vector>& decoded = matrices_[name + "/" + std::to_string(slice)];
    if (!decoded.empty()) return decoded;
    const Matrix found =
        slice < 0 ? weights_.matrix(name, rows, columns).value()
                  : weights_.matrices(name, slice_count, rows, columns).value()[at(slice)];
    const gguf::DTypeTraits& traits = gguf::traits_of(found.type);
    std::vector<float> row(at(columns));
    for (int i = 0; i < rows; ++i) {
      traits.decode(weights_.acquire(found, i, 1), at(columns / traits.block_values), row.data());
      decoded.emplace_back(row.begin(), row.end());
      weights_.release(found, i, 1);
    }
    return decoded;
  }

  Vector vector(const std::string& name, int count) {
    const auto found = weights_.vector(name, count).value();
    return {found.begin(), found.end()};
  }

  Vector product(const std::string& name, int rows, const Vector& x, int slice = -1,
                 int slice_count = 0) {
    const std::vector<Vector>& weight = matrix(name, rows, count_of(x), slice, slice_count);
    Vector out(at(rows));
    for (int i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < x.size(); ++j) out[at(i)] += weight[at(i)][j] * x[j];
    }
    return out;
  }

  std::vector<Vector> embed(const ReferenceInput& input) {
    if (input.tokens.empty()) return input.embeddings;
    const std::string tokens = "tokenizer.ggml.tokens";
    const int vocabulary_count =
        metadata_.has(tokens) ? count_of(metadata_.strings(tokens).value()) : key("vocab_size");
    const auto& table = matrix("token_embd.weight", vocabulary_count, width_);
    std::vector<Vector> x;
    for (const Token token : input.tokens) x.push_back(table[at(token)]);
    return x;
  }

  std::vector<Vector> norm_rows(const std::vector<Vector>& x, const std::string& name) {
    const Vector weight = vector(name, width_);
    std::vector<Vector> out;
    for (const Vector& row : x) out.push_back(rms(row, weight, epsilon_));
    return out;
  }

  // Which of times, heights and widths pair i turns by.
  int axis_of(int pair) const {
    const std::string sections = architecture_ + ".rope.dimension_sections";
    if (!metadata_.has(sections)) return 0;
    const auto counts = metadata_.integers(sections).value();
    for (int axis = 1; axis < 3; ++axis) {
      if (pair % 3 == axis && pair < 3 * counts[at(axis)]) return axis;
    }
    return 0;
  }

  void rotate(Vector& head, int row, int row_count) const {
    const int dimensions = key("rope.dimension_count", count_of(head));
    const double base = metadata_.real(architecture_ + ".rope.freq_base").value();
    for (int i = 0; i < dimensions / 2; ++i) {
      const int position = positions_[at(axis_of(i) * row_count + row)];
      const double angle = position * std::pow(base, -2.0 * i / dimensions);
      double& first = head[at(i)];
      double& second = head[at(i + dimensions / 2)];
      const double turned = first * std::cos(angle) - second * std::sin(angle);
      second = first * std::sin(angle) + second * std::cos(angle);
      first = turned;
    }
  }

  // Norm (where the architecture has one) and rotation of one head.
  Vector finish_head(const Vector& projected, int begin, int width, const std::string& norm,
                     int row, int row_count) {
    Vector head = part(projected, begin, width);
    if (architecture_ != "qwen2") head = rms(head, vector(block_ + norm, width), epsilon_);
    rotate(head, row, row_count);
    return head;
  }

  std::vector<Vector> attention(const std::vector<Vector>& x) {
    const int heads = key("attention.head_count");
    const int groups = heads / key("attention.head_count_kv", heads);
    const int width = key("attention.key_length", width_ / heads);
    const int step = hybrid_ ? 2 * width : width;  // queries of a hybrid are followed by gates
    const int rows = count_of(x);
    const auto project = [&](const char* name, int count, const Vector& row) {
      Vector out = product(block_ + name + ".weight", count, row);
      if (architecture_ == "qwen2") add_to(out, vector(block_ + name + ".bias", count));
      return out;
    };
    std::vector<Vector> queries, values, mixed;
    std::vector<std::vector<Vector>> keys;  // per row and kv head, ready
    for (int i = 0; i < rows; ++i) {
      queries.push_back(project("attn_q", step * heads, x[at(i)]));
      values.push_back(project("attn_v", width * heads / groups, x[at(i)]));
      const Vector row = project("attn_k", width * heads / groups, x[at(i)]);
      keys.emplace_back();
      for (int begin = 0; begin < count_of(row); begin += width) {
        keys.back().push_back(finish_head(row, begin, width, "attn_k_norm.weight", i, rows));
      }
    }
    for (int i = 0; i < rows; ++i) {
      Vector out;
      for (int head = 0; head < heads; ++head) {
        const int source = head / groups;
        const Vector query =
            finish_head(queries[at(i)], head * step, width, "attn_q_norm.weight", i, rows);
        Vector scores;
        for (int j = 0; j <= i; ++j) {
          const Vector& seen = keys[at(j)][at(source)];
          scores.push_back(std::inner_product(query.begin(), query.end(), seen.begin(), 0.0) /
                           std::sqrt(width));
        }
        softmax(scores);
        Vector sum(at(width));
        for (int j = 0; j <= i; ++j) {
          add_to(sum, part(values[at(j)], source * width, width), scores[at(j)]);
        }
        for (int d = 0; d < width && hybrid_; ++d) {
          sum[at(d)] *= sigmoid(queries[at(i)][at(head * step + width + d)]);
        }
        out.insert(out.end(), sum.begin(), sum.end());
      }
      mixed.push_back(product(block_ + "attn_output.weight", width_, out));
    }
    return mixed;
  }

  // Causal convolution and silu; row c of the weight holds the taps of channel c, oldest first.
  std::vector<Vector> convolve(const std::vector<Vector>& x) {
    const int taps = key("ssm.conv_kernel");
    const int channels = count_of(x.front());
    const Vector weight = vector(block_ + "ssm_conv1d.weight", channels * taps);
    std::vector<Vector> out;
    for (int i = 0; i < count_of(x); ++i) {
      Vector& row = out.emplace_back(at(channels));
      for (int c = 0; c < channels; ++c) {
        for (int t = 0; t < taps; ++t) {
          const int from = i - (taps - 1) + t;
          if (from >= 0) row[at(c)] += weight[at(c * taps + t)] * x[at(from)][at(c)];
        }
        row[at(c)] = silu(row[at(c)]);
      }
    }
    return out;
  }

  Vector unit_head(const Vector& channels, int begin, int width) const {
    Vector head = part(channels, begin, width);
    double sum = epsilon_;
    for (const double value : head) sum += value * value;
    for (double& value : head) value /= std::sqrt(sum);
    return head;
  }

  std::vector<Vector> delta_net(const std::vector<Vector>& x) {
    const int key_heads = key("ssm.group_count");
    const int heads = key("ssm.time_step_rank");
    const int width = key("ssm.state_size");
    const int keys_begin = key_heads * width;
    std::vector<Vector> channels;
    for (const Vector& row : x) {
      channels.push_back(product(block_ + "attn_qkv.weight", (2 * key_heads + heads) * width, row));
    }
    channels = convolve(channels);
    const Vector rate = vector(block_ + "ssm_a", heads);
    const Vector bias = vector(block_ + "ssm_dt.bias", heads);
    const Vector norm = vector(block_ + "ssm_norm.weight", width);
    std::vector<std::vector<Vector>> states(at(heads),
                                            std::vector<Vector>(at(width), Vector(at(width))));
    std::vector<Vector> mixed;
    for (int i = 0; i < count_of(x); ++i) {
      const Vector alpha = product(block_ + "ssm_alpha.weight", heads, x[at(i)]);
      const Vector beta = product(block_ + "ssm_beta.weight", heads, x[at(i)]);
      const Vector gate = product(block_ + "attn_gate.weight", heads * width, x[at(i)]);
      Vector out;
      for (int head = 0; head < heads; ++head) {
        const int source = head % key_heads;
        const Vector q = unit_head(channels[at(i)], source * width, width);
        const Vector k = unit_head(channels[at(i)], keys_begin + source * width, width);
        const Vector v = part(channels[at(i)], 2 * keys_begin + head * width, width);
        const double step = std::log1p(std::exp(alpha[at(head)] + bias[at(head)]));
        Vector o = delta_step(states[at(head)], q, k, v, std::exp(rate[at(head)] * step),
                              sigmoid(beta[at(head)]));
        for (double& value : o) value /= std::sqrt(width);
        o = rms(o, norm, epsilon_);
        for (int d = 0; d < width; ++d) o[at(d)] *= silu(gate[at(head * width + d)]);
        out.insert(out.end(), o.begin(), o.end());
      }
      mixed.push_back(product(block_ + "ssm_out.weight", width_, out));
    }
    return mixed;
  }

  // S = decay S; u = beta (v - S^T k); S += k u^T; S^T q
  static Vector delta_step(std::vector<Vector>& state, const Vector& q, const Vector& k,
                           const Vector& v, double decay, double beta) {
    const std::size_t width = q.size();
    Vector out(width);
    for (std::size_t column = 0; column < width; ++column) {
      double seen = 0;
      for (std::size_t i = 0; i < width; ++i) seen += (state[i][column] *= decay) * k[i];
      const double update = beta * (v[column] - seen);
      for (std::size_t i = 0; i < width; ++i) {
        state[i][column] += k[i] * update;
        out[column] += state[i][column] * q[i];
      }
    }
    return out;
  }

  Vector swiglu(const Vector& x, const std::string& suffix, int inner, int slice = -1,
                int slice_count = 0) {
    Vector gate = product(block_ + "ffn_gate" + suffix, inner, x, slice, slice_count);
    const Vector up = product(block_ + "ffn_up" + suffix, inner, x, slice, slice_count);
    for (std::size_t i = 0; i < gate.size(); ++i) gate[i] = silu(gate[i]) * up[i];
    return product(block_ + "ffn_down" + suffix, width_, gate, slice, slice_count);
  }

  Vector feed(const Vector& x) {
    if (architecture_ != "qwen35moe") return swiglu(x, ".weight", key("feed_forward_length"));
    const int expert_count = key("expert_count");
    Vector probabilities = product(block_ + "ffn_gate_inp.weight", expert_count, x);
    softmax(probabilities);
    std::vector<int> order(at(expert_count));
    for (int i = 0; i < expert_count; ++i) order[at(i)] = i;
    std::sort(order.begin(), order.end(), [&](int a, int b) {
      return std::pair(-probabilities[at(a)], a) < std::pair(-probabilities[at(b)], b);
    });
    order.resize(at(key("expert_used_count")));
    double sum = 0;
    for (const int expert : order) sum += probabilities[at(expert)];
    Vector out = swiglu(x, "_shexp.weight", key("expert_shared_feed_forward_length"));
    const Vector gate = vector(block_ + "ffn_gate_inp_shexp.weight", width_);
    double open = 0;
    for (int i = 0; i < width_; ++i) open += gate[at(i)] * x[at(i)];
    for (double& value : out) value *= sigmoid(open);
    for (const int expert : order) {
      add_to(out,
             swiglu(x, "_exps.weight", key("expert_feed_forward_length"), expert, expert_count),
             probabilities[at(expert)] / std::max(sum, 1.0 / 16384));
    }
    return out;
  }

  const gguf::Metadata& metadata_;
  WeightSource& weights_;
  const std::string architecture_;
  const bool hybrid_;
  const int width_;
  const double epsilon_;
  std::string block_;
  std::vector<int> positions_;
  std::map<std::string, std::vector<Vector>> matrices_;
};

}  // namespace

ReferenceResult evaluate_reference(const gguf::Metadata& metadata, WeightSource& weights,
                                   const ReferenceInput& input) {
  return Network(metadata, weights).evaluate(input);
}

double distance(std::span<const float> found, const Vector& expected) {
  double square = 0;
  double most = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    square += expected[i] * expected[i];
    most = std::max(most, std::abs(found[i] - expected[i]));
  }
  return most / std::sqrt(square / static_cast<double>(expected.size()));
}

namespace {

std::vector<json::Value> json_lines(const std::string& path) {
  std::vector<json::Value> lines;
  std::istringstream stream(read_file(path));
  for (std::string line; std::getline(stream, line);) lines.push_back(json::parse(line).value());
  return lines;
}

Tokens integers_of(const json::Value& array) {
  Tokens tokens;
  for (const json::Value& item : array.items) tokens.push_back(std::stoi(item.text));
  return tokens;
}

void expect_start(const Vector& row, const json::Value& recorded, const std::string& name) {
  for (std::size_t i = 0; i < recorded.items.size(); ++i) {
    EXPECT_NEAR(row[i], *number_of(recorded.items[i]), 1e-4) << name << " " << i;
  }
}

// Float rounding: well-scaled networks keep it small, the narrow recorded ones enlarge it some
// hundred times (the recorded rows are as far from the twin as ours).
constexpr double kSampleDistanceMax = 1e-5;
constexpr double kModelDistanceMax = 6e-5;

void expect_agreement(TestNetwork& network, const Tokens& tokens, double distance_max) {
  const ReferenceResult expected =
      evaluate_reference(network.metadata(), network.weights(), {.tokens = tokens});
  const HiddenRows found = network.rows_of(tokens);
  for (int i = 0; i < count_of(tokens); ++i) {
    EXPECT_LE(distance(found.row(i), expected.rows[at(i)]), distance_max) << "row " << i;
  }
}

}  // namespace

TEST(Reference, AgreesWithEverySample) {
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.name);
    TestNetwork network(sample);
    expect_agreement(network, some_tokens(40, 97), kSampleDistanceMax);
  }
}

// An image: rows in place of tokens, each at a time, a height and a width of its own.
TEST(Reference, AgreesOnRowsAtPositionsOfThreeAxes) {
  for (const Sample& sample : samples()) {
    const std::string architecture(sample.metadata.string("general.architecture").value());
    if (!sample.metadata.has(architecture + ".rope.dimension_sections")) continue;
    SCOPED_TRACE(sample.name);
    TestNetwork network(sample);
    const int width = network.backbone().traits().width;
    const std::vector<float> values = bell("image", at(6 * width));
    const std::vector<int> positions = {3, 3, 3, 3, 3, 3, 3, 3, 4, 4, 5, 5, 3, 4, 3, 4, 3, 4};
    ReferenceInput input{.positions = positions};
    for (int i = 0; i < 6; ++i) {
      input.embeddings.emplace_back(values.begin() + i * width, values.begin() + (i + 1) * width);
    }
    const auto expected = evaluate_reference(network.metadata(), network.weights(), input);
    const std::vector<int> wanted = {0, 3, 5};
    const auto memory = network.begin(6);
    const HiddenRows found =
        network.extend(*memory, {.embeddings = values, .positions = positions}, wanted);
    for (int i = 0; i < count_of(wanted); ++i) {
      EXPECT_LE(distance(found.row(i), expected.rows[at(wanted[at(i)])]), kSampleDistanceMax);
    }
    // Text beside an image is text alone.
    HiddenRows image(width), text(width);
    const auto other = network.begin(6), plain = network.begin(5);
    const Tokens tokens = some_tokens(5, 97);
    const std::vector<int> last = {4};
    const Work works[] = {
        {other.get(), {.embeddings = values, .positions = positions}, wanted, &image},
        {plain.get(), {.tokens = tokens}, last, &text}};
    ASSERT_TRUE(network.backbone().extend(works, {}).ok());
    EXPECT_TRUE(std::ranges::equal(text.row(0), network.rows_of(tokens).row(4)));
    EXPECT_TRUE(std::ranges::equal(image.row(2), found.row(2)));
  }
}

TEST(Reference, NetworksOfOneAxisRefuseThree) {
  const TestNetwork network(samples().front());
  const Tokens tokens = {1, 2};
  const std::vector<int> positions = {0, 1, 0, 1, 0, 1};
  const auto memory = network.begin(2);
  const Work work{memory.get(), {.tokens = tokens, .positions = positions}, {}, nullptr};
  const Status status = network.backbone().extend({&work, 1}, {});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::not_supported);
}

class RecordedModel : public ::testing::TestWithParam<const char*> {
 protected:
  // The first line names the model and the prompt, the others its tensors in order.
  const std::vector<json::Value> lines_ =
      json_lines(testdata("golden/tensors/" + std::string(GetParam()) + ".jsonl"));
  const Tokens tokens_ = integers_of(*lines_.front().find("ids"));
};

TEST_P(RecordedModel, IsWhatTheTwinComputes) {
  TestNetwork network(tiny_model("tiny-" + std::string(GetParam()) + "-f32"));
  const ReferenceResult result =
      evaluate_reference(network.metadata(), network.weights(), {.tokens = tokens_});
  int compared = 0;
  for (const json::Value& line : std::span(lines_).subspan(1)) {
    const std::string& name = line.find("tensor")->text;
    if (!name.starts_with("l_out-")) continue;
    const auto& rows = result.layers[at(std::stoi(name.substr(6)))];
    // A recorded last layer holds the read row alone.
    if (static_cast<int>(*number_of(line.find("ne")->items[1])) != count_of(rows)) continue;
    double sum = 0;
    for (const Vector& row : rows) {
      for (const double value : row) sum += std::abs(value);
    }
    const double recorded = *number_of(*line.find("sum_abs"));
    EXPECT_NEAR(sum, recorded, 2e-6 * recorded) << name;
    expect_start(rows.front(), *line.find("first"), name);
    expect_start(rows.back(), *line.find("last"), name);
    ++compared;
  }
  EXPECT_GE(compared, 2);
  const json::Value& normed =
      *std::find_if(lines_.begin(), lines_.end(), [](const json::Value& line) {
        return line.find("tensor") != nullptr && line.find("tensor")->text == "result_norm";
      });
  expect_start(result.rows.back(), *normed.find("last"), "result_norm");
}

TEST_P(RecordedModel, IsWhatTheBackboneComputes) {
  TestNetwork network(tiny_model("tiny-" + std::string(GetParam()) + "-f32"));
  expect_agreement(network, tokens_, kModelDistanceMax);
}

// One recorded answer from tokens to probabilities: the letters' rows of the output matrix times
// the last hidden row. Families do the same with care; here it shows that nothing is missing
// between.
TEST(Golden, AnOpenJevAnswerFollowsFromTheLastRow) {
  const std::vector<json::Value> lines = golden_lines("openjev");
  const json::Value& line = lines.front();
  const json::Value& prompt = line.find("prompts")->items.front();
  const Tokens tokens = integers_of(*prompt.find("ids"));
  TestNetwork network(tiny_model(line.find("model")->text));
  const auto names = network.metadata().strings("tokenizer.ggml.tokens").value();
  const auto token_of = [&](std::string_view text) {
    return static_cast<int>(std::find(names.begin(), names.end(), text) - names.begin());
  };
  const int width = network.backbone().traits().width;
  const Matrix output = network.weights().matrix("output.weight", count_of(names), width).value();
  HiddenRows hidden = network.rows_of(tokens);
  std::vector<float> last(hidden.row(count_of(tokens) - 1).begin(),
                          hidden.row(count_of(tokens) - 1).end());
  const std::vector<int> letters = {token_of("A"), token_of("B")};
  float logits[2];
  multiply_selected(network.net(), {last.data(), 1, width, at(width)}, output, letters,
                    {logits, 1, 2, 2});
  const double temperature = network.metadata().real("qwen35.decision.temperature.choice").value();
  const double approve = sigmoid((logits[0] - logits[1]) / temperature);
  const json::Value& answer = line.find("response")->find("answers")->members.front().value;
  EXPECT_NEAR(approve, answer.find("probabilities")->find("approve")->real, 2e-5);
}

INSTANTIATE_TEST_SUITE_P(All, RecordedModel,
                         ::testing::Values("openjev", "lev", "nimble", "kev", "clef", "openjev-moe",
                                           "openjev-qwen3"),
                         [](const auto& model) {
                           std::string name = model.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace adjudge::testing
