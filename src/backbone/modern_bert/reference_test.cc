#include "backbone/modern_bert/reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "backbone/modern_bert/test_encoder.h"
#include "gguf/half.h"
#include "json/value.h"
#include "support/support.h"

namespace adjudge::testing {

namespace {

double exact_gelu(double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }
double silu(double x) { return x / (1.0 + std::exp(-x)); }

Vector centred(const Vector& x, const Vector& weight, double epsilon) {
  const double count = static_cast<double>(x.size());
  double mean = 0, variance = 0;
  for (const double value : x) mean += value / count;
  for (const double value : x) variance += (value - mean) * (value - mean) / count;
  Vector out;
  for (std::size_t i = 0; i < x.size(); ++i) {
    out.push_back((x[i] - mean) / std::sqrt(variance + epsilon) * weight[i]);
  }
  return out;
}

void add_to(Vector& x, const Vector& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
}

class Twin {
 public:
  Twin(const gguf::Metadata& metadata, WeightSource& weights,
       const EncoderReferenceOptions& options)
      : metadata_(metadata),
        weights_(weights),
        width_(integer("embedding_length", 0)),
        head_count_(integer("attention.head_count", 0)),
        epsilon_(real("attention.layer_norm_epsilon", 0)) {
    const auto name = metadata.find_string("modern-bert.hidden_activation").value();
    activation_ = name == "silu" ? std::function<double(double)>(silu)
                  : options.gelu ? options.gelu
                                 : std::function<double(double)>(exact_gelu);
  }

  EncoderReference evaluate(const Tokens& tokens) {
    EncoderReference result;
    std::vector<Vector> x;
    const auto table = matrix("token_embd.weight", vocabulary_count(), width_);
    for (const Token token : tokens) {
      x.push_back(centred(table[at(token)], vector("token_embd_norm.weight"), epsilon_));
    }
    result.embedded = x;
    const int layers = integer("block_count", 0) - integer("decision.block_count", 0);
    for (int layer = 0; layer < layers; ++layer) {
      block_ = "blk." + std::to_string(layer) + ".";
      attend(layer, x);
      result.after_attention.push_back(x);
      feed(layer, x);
    }
    for (Vector& row : x) row = centred(row, vector("output_norm.weight"), epsilon_);
    result.rows = x;
    return result;
  }

 private:
  static std::string key(const std::string& name) { return "modern-bert." + name; }
  int integer(const std::string& name, int fallback) const {
    return static_cast<int>(metadata_.find_integer(key(name)).value().value_or(fallback));
  }
  double real(const std::string& name, double fallback) const {
    return metadata_.find_real(key(name)).value().value_or(fallback);
  }
  int vocabulary_count() const {
    return metadata_.has("tokenizer.ggml.tokens")
               ? count_of(metadata_.strings("tokenizer.ggml.tokens").value())
               : integer("vocab_size", 0);
  }

  std::vector<Vector> matrix(const std::string& name, int rows, int columns) {
    const Matrix stored = weights_.matrix(name, rows, columns).value();
    const gguf::DTypeTraits& traits = gguf::traits_of(stored.type);
    std::vector<float> row(at(columns));
    std::vector<Vector> decoded;
    for (int i = 0; i < rows; ++i) {
      traits.decode(weights_.acquire(stored, i, 1), at(columns / traits.block_values), row.data());
      decoded.emplace_back(row.begin(), row.end());
    }
    return decoded;
  }
  Vector vector(const std::string& name) {
    const auto values = weights_.vector(name, width_).value();
    return {values.begin(), values.end()};
  }
  Vector multiply(const std::vector<Vector>& weight, const Vector& x) {
    Vector out;
    for (const Vector& row : weight) {
      double sum = 0;
      for (std::size_t i = 0; i < x.size(); ++i) sum += row[i] * x[i];
      out.push_back(sum);
    }
    return out;
  }

  bool is_windowed(int layer) const {
    if (integer("attention.sliding_window", 0) == 0) return false;
    const auto flags = metadata_.booleans(key("attention.sliding_window_pattern"));
    if (flags.ok()) return flags.value()[at(layer)];
    return layer % integer("attention.sliding_window_pattern", 3) != 0;
  }

  void rotate(Vector& x, int position, double base) const {
    const int head_width = width_ / head_count_;
    for (int head = 0; head < head_count_; ++head) {
      for (int i = 0; i < head_width / 2; ++i) {
        const double angle = position * std::pow(base, -2.0 * i / head_width);
        double& low = x[at(head * head_width + i)];
        double& high = x[at(head * head_width + i + head_width / 2)];
        const double old_low = low;
        low = old_low * std::cos(angle) - high * std::sin(angle);
        high = old_low * std::sin(angle) + high * std::cos(angle);
      }
    }
  }

  void attend(int layer, std::vector<Vector>& x) {
    const bool windowed = is_windowed(layer);
    const double base =
        windowed ? real("rope.freq_base_swa", 10000) : real("rope.freq_base", 10000);
    const int reach = windowed ? integer("attention.sliding_window", 0) / 2 : 1 << 30;
    const bool norms = layer > 0 || weights_.has(block_ + "attn_norm.weight");
    const auto fused = matrix(block_ + "attn_qkv.weight", 3 * width_, width_);
    std::vector<Vector> queries, keys, values;
    for (int i = 0; i < count_of(x); ++i) {
      const Vector normed =
          norms ? centred(x[at(i)], vector(block_ + "attn_norm.weight"), epsilon_) : x[at(i)];
      const Vector all = multiply(fused, normed);
      queries.emplace_back(all.begin(), all.begin() + width_);
      keys.emplace_back(all.begin() + width_, all.begin() + 2 * width_);
      values.emplace_back(all.begin() + 2 * width_, all.end());
      rotate(queries.back(), i, base);
      rotate(keys.back(), i, base);
    }
    const auto output = matrix(block_ + "attn_output.weight", width_, width_);
    for (int i = 0; i < count_of(x); ++i) {
      add_to(x[at(i)], multiply(output, attended(i, reach, queries[at(i)], keys, values)));
    }
  }

  Vector attended(int row, int reach, const Vector& query, const std::vector<Vector>& keys,
                  const std::vector<Vector>& values) const {
    const int head_width = width_ / head_count_;
    Vector out(at(width_), 0.0);
    for (int head = 0; head < head_count_; ++head) {
      Vector weights;
      double total = 0;
      for (int k = 0; k < count_of(keys); ++k) {
        double dot = 0;
        for (int i = head * head_width; i < (head + 1) * head_width; ++i) {
          dot += query[at(i)] * keys[at(k)][at(i)];
        }
        weights.push_back(std::abs(row - k) > reach ? 0 : std::exp(dot / std::sqrt(head_width)));
        total += weights.back();
      }
      for (int k = 0; k < count_of(keys); ++k) {
        for (int i = head * head_width; i < (head + 1) * head_width; ++i) {
          out[at(i)] += weights[at(k)] / total * values[at(k)][at(i)];
        }
      }
    }
    return out;
  }

  void feed(int layer, std::vector<Vector>& x) {
    const auto widths = metadata_.integers(key("feed_forward_length")).value();
    const int inner = static_cast<int>(widths[widths.size() == 1 ? 0 : at(layer)]);
    const auto both = matrix(block_ + "ffn_up.weight", 2 * inner, width_);
    const auto down = matrix(block_ + "ffn_down.weight", width_, inner);
    for (Vector& row : x) {
      const Vector normed = centred(row, vector(block_ + "ffn_norm.weight"), epsilon_);
      const Vector gate_and_up = multiply(both, normed);
      Vector gated;
      for (int i = 0; i < inner; ++i) {
        gated.push_back(activation_(gate_and_up[at(i)]) * gate_and_up[at(inner + i)]);
      }
      add_to(row, multiply(down, gated));
    }
  }

  const gguf::Metadata& metadata_;
  WeightSource& weights_;
  const int width_;
  const int head_count_;
  const double epsilon_;
  std::function<double(double)> activation_;
  std::string block_;
};

// The GELU of llama.cpp: the tanh form of the value rounded to half precision, rounded again.
double rounded_gelu(double x) {
  if (x <= -10) return 0;
  if (x >= 10) return x;
  const auto half = [](double value) {
    const std::uint16_t bits = gguf::half_of_float(static_cast<float>(value));
    return static_cast<double>(gguf::float_of_half(bits));
  };
  const double rounded = half(x);
  constexpr double kRootOfTwoOverPi = 0.79788456080286535587989211986876;
  return half(0.5 * rounded *
              (1 + std::tanh(kRootOfTwoOverPi * rounded * (1 + 0.044715 * rounded * rounded))));
}

void expect_tensor(const json::Value& line, const std::vector<Vector>& rows) {
  const std::string& name = line.find("tensor")->text;
  double sum = 0;
  for (const Vector& row : rows) {
    for (const double value : row) sum += std::abs(value);
  }
  const double recorded = *number_of(*line.find("sum_abs"));
  EXPECT_NEAR(sum, recorded, 2e-5 * recorded) << name;
  for (const auto& [member, row] : {std::pair("first", &rows.front()), {"last", &rows.back()}}) {
    const std::vector<json::Value>& values = line.find(member)->items;
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_NEAR((*row)[i], *number_of(values[i]), 2e-3) << name << " " << member << i;
    }
  }
}

}  // namespace

EncoderReference evaluate_encoder_reference(const gguf::Metadata& metadata, WeightSource& weights,
                                            const Tokens& tokens,
                                            const EncoderReferenceOptions& options) {
  return Twin(metadata, weights, options).evaluate(tokens);
}

TEST(EncoderReference, AgreesWithEverySample) {
  for (const Sample& sample : encoder_samples()) {
    SCOPED_TRACE(sample.name);
    TestNetwork network(sample);
    const Tokens tokens = some_tokens(40, 97);
    const auto expected = evaluate_encoder_reference(network.metadata(), network.weights(), tokens);
    const HiddenRows found = whole_sequence(network, tokens);
    for (int i = 0; i < count_of(tokens); ++i) {
      EXPECT_LE(distance(found.row(i), expected.rows[at(i)]), 1e-5) << "row " << i;
    }
  }
}

// With the other GELU the twin is what the independent implementation computed, tensor by tensor.
TEST(EncoderReference, IsTheRecordedModel) {
  TestNetwork network(tiny_model("tiny-laya-f32"));
  std::istringstream stream(read_file(testdata("golden/tensors/laya.jsonl")));
  std::string text;
  std::getline(stream, text);
  const json::Value head = json::parse(text).value();
  Tokens tokens;
  for (const json::Value& id : head.find("ids")->items) tokens.push_back(std::stoi(id.text));
  const auto twin = evaluate_encoder_reference(network.metadata(), network.weights(), tokens,
                                               {.gelu = rounded_gelu});
  int compared = 0;
  while (std::getline(stream, text)) {
    const json::Value line = json::parse(text).value();
    const std::string& name = line.find("tensor")->text;
    const bool of_trunk = name.starts_with("ffn_inp-") && name.back() < '5';
    if (name == "inp_norm-0") expect_tensor(line, twin.embedded);
    if (name == "final_norm_out") expect_tensor(line, twin.rows);
    if (of_trunk) expect_tensor(line, twin.after_attention[at(name.back() - '0')]);
    compared += name == "inp_norm-0" || name == "final_norm_out" || of_trunk ? 1 : 0;
  }
  EXPECT_EQ(compared, 7);

  // The narrow network enlarges the rounding of floats some hundred times.
  const auto exact = evaluate_encoder_reference(network.metadata(), network.weights(), tokens);
  const HiddenRows found = whole_sequence(network, tokens);
  for (int i = 0; i < count_of(tokens); ++i) {
    EXPECT_LE(distance(found.row(i), exact.rows[at(i)]), 1e-4) << "row " << i;
  }
}

}  // namespace adjudge::testing
