#include "readout/joint.h"

#include <cmath>
#include <map>

#include "readout/test_head.h"

namespace adjudge {
namespace {

using namespace testing;
using Vector = std::vector<double>;
using Vectors = std::vector<Vector>;

constexpr int kHidden = 48;
constexpr int kWidth = 32;
constexpr int kHeads = 4;
constexpr int kInner = 40;
constexpr int kVocabulary = 60;
constexpr int kRouting = 2;
constexpr int kJoint = 2;
constexpr double kEpsilon = 1e-5;

// The tensors of a head, by name; shapes are innermost first.
class Tensors {
 public:
  Tensors() {
    matrix("output.weight", kVocabulary, kHidden);
    norm("decision.hidden_norm", kHidden);
    for (const char* name : {"option_summary_norm", "field_norm", "option_norm"}) {
      norm(std::string("decision.") + name, kWidth);
    }
    for (const char* name :
         {"memory", "question", "option_question", "global", "option_context", "option_lexical"}) {
      matrix("decision.proj_" + std::string(name) + ".weight", kWidth, kHidden);
    }
    biased("decision.scorer", kWidth, 4 * kWidth);
    biased("decision.scorer_out", 1, kWidth);
    matrix("token_types.weight", 3, kWidth);
    put("decision.scales", {3}, {7.0f, 5.0f, 0.6f});
    for (int i = 0; i < kRouting + kJoint; ++i) block("dec.blk." + std::to_string(i) + ".", i);
  }

  const std::vector<float>& values(const std::string& name) const {
    return tensors_.at(name).second;
  }
  void put(const std::string& name, GgufWriter::Shape shape, std::vector<float> values) {
    tensors_[name] = {std::move(shape), std::move(values)};
  }
  void drop(const std::string& name) { tensors_.erase(name); }
  void rename(const std::string& from, const std::string& to) {
    tensors_[to] = tensors_.at(from);
    drop(from);
  }

  GgufWriter file(int head_count = kHeads) const {
    GgufWriter writer("clef");
    writer.integer("clef.decision.routing_block_count", kRouting)
        .integer("clef.decision.block_count", kJoint)
        .integer("clef.decision.head_count", head_count)
        .real("clef.attention.layer_norm_epsilon", kEpsilon);
    for (const auto& [name, tensor] : tensors_) writer.tensor(name, tensor.first, tensor.second);
    return writer;
  }

 private:
  void random(const std::string& name, GgufWriter::Shape shape, float scale, float mean = 0) {
    std::size_t count = 1;
    for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
    std::vector<float> values = bell(name, count);
    for (float& value : values) value = mean + scale * value;
    put(name, std::move(shape), std::move(values));
  }
  void matrix(const std::string& name, int rows, int columns) {
    random(name, {columns, rows}, 1.0f / std::sqrt(static_cast<float>(columns)));
  }
  void biased(const std::string& name, int rows, int columns) {
    matrix(name + ".weight", rows, columns);
    random(name + ".bias", {rows}, 0.2f);
  }
  void norm(const std::string& name, int width) {
    random(name + ".weight", {width}, 0.2f, 1);
    random(name + ".bias", {width}, 0.2f);
  }
  void attention(const std::string& name) {
    for (const char* part : {"_q", "_k", "_v", "_o"}) biased(name + part, kWidth, kWidth);
  }
  void block(const std::string& name, int index) {
    norm(name + "cross_attn_norm", kWidth);
    attention(name + "cross_attn");
    norm(name + "ffn_norm", kWidth);
    biased(name + "ffn_up", kInner, kWidth);
    biased(name + "ffn_down", kWidth, kInner);
    if (index < kRouting) {
      norm(name + "cross_attn_norm_kv", kWidth);
    } else {
      norm(name + "attn_norm", kWidth);
      attention(name + "attn");
    }
  }

  std::map<std::string, std::pair<GgufWriter::Shape, std::vector<float>>> tensors_;
};

void add_to(Vector& x, const Vector& y, double scale = 1) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += scale * y[i];
}

double dot_of(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double cosine(const Vector& a, const Vector& b) {
  return dot_of(a, b) / std::sqrt(dot_of(a, a) * dot_of(b, b));
}

void gelu_of(Vector& x) {
  for (double& value : x) value *= 0.5 * (1 + std::erf(value / std::sqrt(2.0)));
}

// Weights of a softmax.
Vector shares_of(Vector scores) {
  double sum = 0;
  for (double& score : scores) sum += score = std::exp(score);
  for (double& score : scores) score /= sum;
  return scores;
}

// The head in double precision, a vector at a time, as it is written down: nothing of it is shared
// with the code it judges.
class Twin {
 public:
  Twin(const Tensors& tensors, const HiddenRows& rows) : tensors_(tensors) {
    for (int i = 0; i < rows.count(); ++i) {
      hidden_.push_back(norm("decision.hidden_norm", {rows.row(i).begin(), rows.row(i).end()}));
      memory_.push_back(project("memory", hidden_.back()));
    }
  }

  Vectors logits(const std::vector<JointField>& fields) const {
    Vectors questions, states;
    std::vector<Vectors> options, words;
    for (const JointField& field : fields) {
      questions.push_back(mean_of(field.rows));
      words.push_back(words_of(field));
      options.push_back(options_of(field, questions.back(), words.back()));
      states.push_back(state_of(field, questions.back(), options.back()));
    }
    for (int i = 0; i < kJoint; ++i) join(block(kRouting + i), states);
    Vectors logits;
    for (std::size_t f = 0; f < fields.size(); ++f) {
      Vector anchor = questions[f];
      add_to(anchor, hidden_.back());
      Vector& own = logits.emplace_back();
      for (std::size_t o = 0; o < options[f].size(); ++o) {
        own.push_back(score(norm("decision.field_norm", states[f]),
                            norm("decision.option_norm", options[f][o]),
                            cosine(words[f][o], anchor)));
      }
    }
    return logits;
  }

 private:
  static std::string block(int index) { return "dec.blk." + std::to_string(index) + "."; }

  Vector vector(const std::string& name) const {
    const std::vector<float>& values = tensors_.values(name);
    return {values.begin(), values.end()};
  }

  Vector row(const std::string& name, int index, int width) const {
    const std::vector<float>& values = tensors_.values(name);
    return {values.begin() + index * width, values.begin() + (index + 1) * width};
  }

  Vector product(const std::string& name, const Vector& x) const {
    const std::vector<float>& weight = tensors_.values(name);
    Vector out(weight.size() / x.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      for (std::size_t j = 0; j < x.size(); ++j) {
        out[i] += static_cast<double>(weight[i * x.size() + j]) * x[j];
      }
    }
    return out;
  }
  Vector project(const std::string& name, const Vector& x) const {
    return product("decision.proj_" + name + ".weight", x);
  }
  Vector biased(const std::string& name, const Vector& x) const {
    Vector out = product(name + ".weight", x);
    add_to(out, vector(name + ".bias"));
    return out;
  }

  Vector norm(const std::string& name, const Vector& x) const {
    const double count = static_cast<double>(x.size());
    double mean = 0, variance = 0;
    for (const double value : x) mean += value / count;
    for (const double value : x) variance += (value - mean) * (value - mean) / count;
    const Vector weight = vector(name + ".weight");
    Vector out = vector(name + ".bias");
    for (std::size_t i = 0; i < x.size(); ++i) {
      out[i] += (x[i] - mean) / std::sqrt(variance + kEpsilon) * weight[i];
    }
    return out;
  }

  Vector mean_of(const RowSpan& rows) const {
    Vector mean(kHidden);
    for (int i = rows.begin; i < rows.end; ++i)
      add_to(mean, hidden_[at(i)], 1.0 / (rows.end - rows.begin));
    return mean;
  }

  Vectors words_of(const JointField& field) const {
    Vectors words;
    for (const JointOption& option : field.options) {
      Vector& mean = words.emplace_back(kHidden);
      for (const Token token : option.tokens) {
        add_to(mean, row("output.weight", token, kHidden),
               1.0 / static_cast<double>(option.tokens.size()));
      }
    }
    return words;
  }

  Vectors options_of(const JointField& field, const Vector& question, const Vectors& words) const {
    Vectors options;
    for (std::size_t o = 0; o < field.options.size(); ++o) {
      Vector option = project("option_context", mean_of(field.options[o].rows));
      add_to(option, project("option_lexical", words[o]));
      add_to(option, project("option_question", question));
      for (int i = 0; i < kRouting; ++i) {
        Vectors seen;
        for (const Vector& row : memory_)
          seen.push_back(norm(block(i) + "cross_attn_norm_kv", row));
        add_to(option,
               attend(block(i) + "cross_attn", norm(block(i) + "cross_attn_norm", option), seen));
        add_to(option, feed(block(i), option));
      }
      options.push_back(option);
    }
    return options;
  }

  Vector state_of(const JointField& field, const Vector& question, const Vectors& options) const {
    Vector state = project("question", question);
    Vector scores, summary(kWidth);
    for (const Vector& option : options)
      scores.push_back(dot_of(state, option) / std::sqrt(kWidth));
    scores = shares_of(scores);
    for (std::size_t o = 0; o < options.size(); ++o) add_to(summary, options[o], scores[o]);
    add_to(state, norm("decision.option_summary_norm", summary));
    add_to(state, project("global", hidden_.back()));
    add_to(state, row("token_types.weight", field.type, kWidth));
    return state;
  }

  void join(const std::string& name, Vectors& states) const {
    Vectors normed;
    for (const Vector& state : states) normed.push_back(norm(name + "attn_norm", state));
    for (std::size_t f = 0; f < states.size(); ++f) {
      Vector& state = states[f];
      add_to(state, attend(name + "attn", normed[f], normed));
      add_to(state, attend(name + "cross_attn", norm(name + "cross_attn_norm", state), memory_));
      add_to(state, feed(name, state));
    }
  }

  Vector attend(const std::string& name, const Vector& x, const Vectors& seen) const {
    constexpr int kHeadWidth = kWidth / kHeads;
    const Vector query = biased(name + "_q", x);
    Vectors keys, values;
    for (const Vector& row : seen) {
      keys.push_back(biased(name + "_k", row));
      values.push_back(biased(name + "_v", row));
    }
    Vector out(kWidth);
    for (int begin = 0; begin < kWidth; begin += kHeadWidth) {
      const auto head = [&](const Vector& all) {
        return Vector(all.begin() + begin, all.begin() + begin + kHeadWidth);
      };
      Vector scores;
      for (const Vector& key : keys) {
        scores.push_back(dot_of(head(query), head(key)) / std::sqrt(kHeadWidth));
      }
      scores = shares_of(scores);
      for (std::size_t i = 0; i < values.size(); ++i) {
        for (int j = begin; j < begin + kHeadWidth; ++j) out[at(j)] += scores[i] * values[i][at(j)];
      }
    }
    return biased(name + "_o", out);
  }

  Vector feed(const std::string& name, const Vector& x) const {
    Vector inner = biased(name + "ffn_up", norm(name + "ffn_norm", x));
    gelu_of(inner);
    return biased(name + "ffn_down", inner);
  }

  double score(const Vector& field, const Vector& option, double prior) const {
    Vector features = field;
    features.insert(features.end(), option.begin(), option.end());
    for (int i = 0; i < kWidth; ++i) features.push_back(field[at(i)] * option[at(i)]);
    for (int i = 0; i < kWidth; ++i) features.push_back(std::abs(field[at(i)] - option[at(i)]));
    Vector inner = biased("decision.scorer", features);
    gelu_of(inner);
    const Vector scales = vector("decision.scales");
    return scales[0] * prior + scales[2] * (scales[1] * cosine(field, option) +
                                            biased("decision.scorer_out", inner)[0]);
  }

  const Tensors& tensors_;
  Vectors hidden_, memory_;
};

Result<std::shared_ptr<const JointHead>> open(TestHead& head) {
  return open_joint_head(head.file(), head.weights(), kHidden, kVocabulary);
}

// Fields one after the other, each with so many options, and rows between that belong to none.
std::vector<JointField> some_fields(const std::vector<int>& option_counts) {
  std::vector<JointField> fields;
  int row = 3;
  const auto next_span = [&row](int count) {
    const RowSpan span{row, row + count};
    row = span.end + 2;
    return span;
  };
  for (const int option_count : option_counts) {
    JointField& field = fields.emplace_back();
    field.type = count_of(fields) % 3;
    field.rows = next_span(4);
    for (int i = 0; i < option_count; ++i) {
      JointOption& option = field.options.emplace_back();
      option.rows = next_span(1 + i % 5);
      for (int r = option.rows.begin; r < option.rows.end; ++r) {
        option.tokens.push_back((r * 7 + r * r) % kVocabulary);
      }
    }
  }
  return fields;
}

HiddenRows rows_for(const std::vector<JointField>& fields) {
  return rows_of(bell("rows", at((fields.back().options.back().rows.end + 3) * kHidden)), kHidden);
}

Vectors read(TestHead& head, const std::vector<JointField>& fields, const HiddenRows& rows) {
  const auto opened = open(head);
  EXPECT_TRUE(opened.ok()) << opened.error().message();
  std::vector<int> marks;
  for (int i = 0; i < count_of(fields); ++i) marks.push_back(i);
  std::vector<ReadoutInput> inputs;
  for (int i = 0; i < count_of(fields); ++i)
    inputs.push_back({&rows, std::span(marks).subspan(at(i), 1)});
  return JointReadout(opened.value(), fields).read(head.net(), inputs).value();
}

void expect_twin(const Tensors& tensors, const std::vector<JointField>& fields) {
  TestHead head(tensors.file());
  const HiddenRows rows = rows_for(fields);
  const Vectors logits = read(head, fields, rows);
  const Vectors expected = Twin(tensors, rows).logits(fields);
  ASSERT_EQ(logits.size(), expected.size());
  for (std::size_t f = 0; f < logits.size(); ++f) {
    ASSERT_EQ(logits[f].size(), expected[f].size());
    for (std::size_t o = 0; o < logits[f].size(); ++o) {
      EXPECT_NEAR(logits[f][o], expected[f][o], 2e-5) << "field " << f << " option " << o;
    }
  }
}

TEST(JointReadout, EqualsItsDoublePrecisionTwin) {
  expect_twin({}, some_fields({3, 2, 1, 7}));
  expect_twin({}, some_fields({1}));
}

// Longer than what is brought together at a time, with spans across the borders.
TEST(JointReadout, LongPromptsAreReadInStretches) { expect_twin({}, some_fields({90, 150})); }

TEST(JointReadout, TiedEmbeddingsAreTheOptionsWords) {
  Tensors tied;
  tied.rename("output.weight", "token_embd.weight");
  TestHead one{Tensors().file()}, other(tied.file());
  const std::vector<JointField> fields = some_fields({4});
  EXPECT_EQ(read(one, fields, rows_for(fields)), read(other, fields, rows_for(fields)));
}

TEST(JointReadout, WhoeverAsksGetsTheFieldNamed) {
  TestHead head(Tensors().file());
  const std::vector<JointField> fields = some_fields({2, 3});
  const HiddenRows rows = rows_for(fields);
  const Vectors both = read(head, fields, rows);
  const JointReadout readout(open(head).value(), fields);
  const std::vector<int> last = {1};
  const std::vector<ReadoutInput> inputs = {{&rows, last}};
  const Vectors one = readout.read(head.net(), inputs).value();
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0], both[1]);
}

TEST(JointReadout, IsExactWhateverThePrecision) {
  TestHead head(Tensors().file());
  const std::vector<JointField> fields = some_fields({2});
  const HiddenRows rows = rows_for(fields);
  const JointReadout readout(open(head).value(), fields);
  const std::vector<int> first = {0};
  const std::vector<ReadoutInput> inputs = {{&rows, first}};
  NetContext net = head.net();
  net.precision = Precision::bf16;
  EXPECT_EQ(readout.read(net, inputs).value(), readout.read(head.net(), inputs).value());
}

TEST(JointReadout, FieldsReadEachOther) {
  TestHead head(Tensors().file());
  std::vector<JointField> fields = some_fields({2, 3});
  const HiddenRows rows = rows_for(fields);
  const Vectors before = read(head, fields, rows);
  fields[1].type = 1;
  EXPECT_NE(read(head, fields, rows)[0], before[0]);
}

std::string refusal(const Tensors& tensors, int head_count = kHeads) {
  TestHead head(tensors.file(head_count));
  const auto opened = open(head);
  if (opened.ok()) return "opened";
  EXPECT_EQ(opened.error().kind, ErrorKind::bad_model);
  return opened.error().message();
}

TEST(JointReadout, MissingTensorsAreNamed) {
  for (const char* name :
       {"output.weight", "decision.hidden_norm.bias", "decision.proj_memory.weight",
        "decision.proj_option_lexical.weight", "decision.scales", "token_types.weight",
        "decision.scorer_out.bias", "dec.blk.0.ffn_up.weight",
        "dec.blk.1.cross_attn_norm_kv.weight", "dec.blk.2.attn_norm.bias",
        "dec.blk.3.attn_q.weight", "dec.blk.3.cross_attn_o.bias"}) {
    Tensors tensors;
    tensors.drop(name);
    const std::string missing =
        name == std::string("output.weight") ? "token_embd.weight" : name;  // tied, if absent
    EXPECT_NE(refusal(tensors).find(missing), std::string::npos) << refusal(tensors);
  }
}

TEST(JointReadout, MisshapedTensorsAreNamedWithBothShapes) {
  const std::map<std::string, std::string> found = {{"decision.proj_question.weight", "{48, 31}"},
                                                    {"decision.scorer.weight", "{128, 31}"},
                                                    {"dec.blk.3.ffn_down.weight", "{40, 31}"}};
  for (const auto& [name, shape] : found) {
    const int columns = std::stoi(shape.substr(1));
    Tensors tensors;
    tensors.put(name, {columns, 31}, std::vector<float>(at(columns) * 31));
    const std::string message = refusal(tensors);
    EXPECT_NE(message.find(name), std::string::npos) << message;
    EXPECT_NE(message.find(shape), std::string::npos) << message;
    EXPECT_NE(message.find("32}"), std::string::npos) << message;
  }
  Tensors tensors;
  tensors.put("decision.scales", {2}, {1, 2});
  EXPECT_NE(refusal(tensors).find("decision.scales has 2 values, expected 3"), std::string::npos);
  tensors = {};
  tensors.put("decision.proj_memory.weight", {kHidden}, std::vector<float>(kHidden));
  EXPECT_NE(refusal(tensors).find("\"decision.proj_memory.weight\": found shape {48}"),
            std::string::npos);
}

TEST(JointReadout, HeadsThatDoNotDivideTheWidthAreRefused) {
  const std::string message = refusal({}, 5);
  EXPECT_NE(message.find("clef.decision.head_count"), std::string::npos) << message;
  EXPECT_NE(message.find("32"), std::string::npos) << message;
}

}  // namespace
}  // namespace adjudge
