#include "readout/joint.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "backbone/keys.h"
#include "backbone/scratch.h"
#include "readout/label.h"

namespace adjudge {
namespace {

constexpr int kTypeCount = 3;

// Rows that are brought together to be normed, projected or averaged: the prompt need not lie in
// memory twice.
constexpr int kStretchRows = 512;

// How many rows a matrix of the file has; its other checks come with its use.
Result<int> rows_of(const gguf::File& file, const std::string& name) {
  ADJ_TRY(const gguf::Tensor* tensor, file.tensor(name));
  const std::vector<std::int64_t>& shape = tensor->shape;
  if (shape.size() == 2 && shape[1] >= 1 && shape[1] <= kWidthMax) {
    return static_cast<int>(shape[1]);
  }
  std::string found;
  for (const std::int64_t size : shape) found += (found.empty() ? "" : ", ") + std::to_string(size);
  return Error{ErrorKind::bad_model, file.path() + ": tensor \"" + name + "\": found shape {" +
                                         found + "}, expected two sizes, the second 1 to " +
                                         std::to_string(kWidthMax)};
}

// Finds what a head is made of.
class HeadFinder {
 public:
  HeadFinder(WeightSource& weights, JointHead& head, int inner)
      : weights_(weights), head_(head), inner_(inner) {}

  Status find_norms() {
    ADJ_TRY(head_.hidden_norm,
            find_biased_norm(weights_, "decision.hidden_norm", head_.hidden_width));
    ADJ_TRY(head_.summary_norm, norm("decision.option_summary_norm"));
    ADJ_TRY(head_.field_norm, norm("decision.field_norm"));
    ADJ_TRY(head_.option_norm, norm("decision.option_norm"));
    return Done{};
  }

  Status find_projections() {
    ADJ_TRY(head_.memory, projection("memory"));
    ADJ_TRY(head_.question, projection("question"));
    ADJ_TRY(head_.option_question, projection("option_question"));
    ADJ_TRY(head_.global, projection("global"));
    ADJ_TRY(head_.option_context, projection("option_context"));
    ADJ_TRY(head_.option_lexical, projection("option_lexical"));
    return Done{};
  }

  Status find_scorer() {
    const int width = head_.width;
    ADJ_TRY(head_.scorer, find_biased_matrix(weights_, "decision.scorer", width, 4 * width));
    ADJ_TRY(head_.scorer_out, find_biased_matrix(weights_, "decision.scorer_out", 1, width));
    ADJ_TRY(const std::span<const float> types,
            weights_.vector("token_types.weight", kTypeCount * width));
    for (int type = 0; type < kTypeCount; ++type) {
      head_.types.push_back(types.subspan(at(type * width), at(width)));
    }
    // Stored as they are used: exponentials of the trained scales, the sigmoid of the trained gate.
    ADJ_TRY(const std::span<const float> scales, weights_.vector("decision.scales", 3));
    head_.prior_scale = scales[0];
    head_.joint_scale = scales[1];
    head_.gate = scales[2];
    return Done{};
  }

  Result<RoutingBlock> find_routing(int index) {
    RoutingBlock block;
    ADJ_TRY_DONE(find_reading(index, block));
    ADJ_TRY(block.memory_norm, norm(block_name(index) + "cross_attn_norm_kv"));
    return block;
  }

  Result<FieldBlock> find_field(int index) {
    FieldBlock block;
    ADJ_TRY_DONE(find_reading(index, block));
    ADJ_TRY(block.self_norm, norm(block_name(index) + "attn_norm"));
    ADJ_TRY(block.self, attention(block_name(index) + "attn"));
    return block;
  }

 private:
  static std::string block_name(int index) { return "dec.blk." + std::to_string(index) + "."; }

  Result<BiasedNorm> norm(const std::string& name) {
    return find_biased_norm(weights_, name, head_.width);
  }
  Result<BiasedMatrix> square(const std::string& name) {
    return find_biased_matrix(weights_, name, head_.width, head_.width);
  }
  Result<Matrix> projection(const std::string& name) {
    return weights_.matrix("decision.proj_" + name + ".weight", head_.width, head_.hidden_width);
  }

  Result<JointAttention> attention(const std::string& name) {
    JointAttention found;
    ADJ_TRY(found.query, square(name + "_q"));
    ADJ_TRY(found.key, square(name + "_k"));
    ADJ_TRY(found.value, square(name + "_v"));
    ADJ_TRY(found.output, square(name + "_o"));
    return found;
  }

  Status find_reading(int index, ReadingBlock& block) {
    const std::string name = block_name(index);
    ADJ_TRY(block.cross_norm, norm(name + "cross_attn_norm"));
    ADJ_TRY(block.cross, attention(name + "cross_attn"));
    ADJ_TRY(block.feed_norm, norm(name + "ffn_norm"));
    ADJ_TRY(block.up, find_biased_matrix(weights_, name + "ffn_up", inner_, head_.width));
    ADJ_TRY(block.down, find_biased_matrix(weights_, name + "ffn_down", head_.width, inner_));
    return Done{};
  }

  WeightSource& weights_;
  JointHead& head_;
  int inner_;
};

// Rows that own their values and lie side by side without gaps, as attention wants its keys.
class OwnRows {
 public:
  OwnRows(int count, int width)
      : values_(at(count) * at(width)), rows_{values_.data(), count, width, at(width)} {}

  static OwnRows zeros(int count, int width) {
    OwnRows rows(count, width);
    std::ranges::fill(rows.values_.span(), 0.0f);
    return rows;
  }

  operator const Rows&() const { return rows_; }
  float* row(int index) const { return rows_.row(index); }
  std::span<const float> view(int index) const { return {row(index), at(rows_.width)}; }
  int count() const { return rows_.count; }

 private:
  Aligned<float> values_;
  Rows rows_;
};

// In double precision, of unit vectors; a vector without length is like none.
double cosine(std::span<const float> a, std::span<const float> b) {
  constexpr double kLengthMin = 1e-12;
  double dot = 0, a_square = 0, b_square = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = a[i], y = b[i];
    dot += x * y;
    a_square += x * x;
    b_square += y * y;
  }
  return dot /
         (std::max(std::sqrt(a_square), kLengthMin) * std::max(std::sqrt(b_square), kLengthMin));
}

// One prompt on its way through the head.
class JointPass {
 public:
  JointPass(const NetContext& net, const JointHead& head, std::span<const JointField> fields,
            const HiddenRows& rows)
      : net_(net), head_(head), spans_(fields), row_count_(rows.count()) {
    read_hidden(rows);
    read_tokens();
  }

  // The logits of every field.
  std::vector<std::vector<double>> run() {
    project_options();
    for (const RoutingBlock& block : head_.routing) route(block);
    project_fields();
    for (const FieldBlock& block : head_.joint) join(block);
    return score();
  }

 private:
  // Where fields and options stand, in flat lists.
  struct Spans {
    explicit Spans(std::span<const JointField> joint_fields) {
      for (const JointField& field : joint_fields) {
        types.push_back(field.type);
        fields.push_back(field.rows);
        first_option.push_back(count_of(options));
        for (const JointOption& option : field.options) {
          field_of.push_back(count_of(fields) - 1);
          options.push_back(option.rows);
          const int begin = count_of(tokens);
          tokens.insert(tokens.end(), option.tokens.begin(), option.tokens.end());
          words.push_back({begin, count_of(tokens)});
        }
      }
      first_option.push_back(count_of(options));
    }

    std::vector<int> types;         // of fields
    std::vector<int> first_option;  // of fields, and the end
    std::vector<int> field_of;      // of options
    std::vector<RowSpan> fields, options;
    Tokens tokens;               // of all options
    std::vector<RowSpan> words;  // of options, among `tokens`
  };

  int field_count() const { return count_of(spans_.fields); }
  int option_count() const { return count_of(spans_.options); }

  // Adds rows that stand at `begin` of a sequence to the means of the spans they lie in.
  void add_to_means(const Rows& x, int begin, std::span<const RowSpan> spans,
                    const OwnRows& means) const {
    const auto add_to_one = [&](int index, int) {
      const RowSpan& span = spans[at(index)];
      const float share = 1.0f / static_cast<float>(span.end - span.begin);
      const int end = std::min(span.end, begin + x.count);
      for (int row = std::max(span.begin, begin); row < end; ++row) {
        net_.kernels->add_scaled(means.row(index), x.row(row - begin), share, x.width);
      }
    };
    net_.pool->run(count_of(spans), add_to_one);
  }

  void read_hidden(const HiddenRows& rows) {
    const OwnRows stretch(std::min(kStretchRows, row_count_), head_.hidden_width);
    for (int begin = 0; begin < row_count_; begin += kStretchRows) {
      const Rows x = slice_of(stretch, 0, std::min(kStretchRows, row_count_ - begin));
      for (int i = 0; i < x.count; ++i) std::ranges::copy(rows.row(begin + i), x.row(i));
      layer_norm(net_, x, head_.hidden_norm, head_.epsilon, x);
      multiply(net_, x, head_.memory, slice_of(memory_, begin, x.count));
      add_to_means(x, begin, spans_.fields, questions_);
      add_to_means(x, begin, spans_.options, contexts_);
      std::copy_n(x.row(x.count - 1), x.width, global_.row(0));  // the prompt's last row stays
    }
  }

  void read_tokens() {
    const int count = count_of(spans_.tokens);
    const OwnRows stretch(std::min(kStretchRows, count), head_.hidden_width);
    for (int begin = 0; begin < count; begin += kStretchRows) {
      const Rows x = slice_of(stretch, 0, std::min(kStretchRows, count - begin));
      gather(net_, head_.token_rows, std::span(spans_.tokens).subspan(at(begin), at(x.count)), x);
      add_to_means(x, begin, spans_.words, lexical_);
    }
  }

  void project_options() {
    const OwnRows added(option_count(), head_.width), asked(field_count(), head_.width);
    multiply(net_, contexts_, head_.option_context, options_);
    multiply(net_, lexical_, head_.option_lexical, added);
    add(net_, options_, added);
    multiply(net_, questions_, head_.option_question, asked);
    for (int option = 0; option < option_count(); ++option) {
      const float* question = asked.row(spans_.field_of[at(option)]);
      net_.kernels->add_scaled(options_.row(option), question, 1.0f, head_.width);
    }
  }

  void route(const RoutingBlock& block) {
    const OwnRows normed(option_count(), head_.width), seen(row_count_, head_.width);
    layer_norm(net_, options_, block.cross_norm, head_.epsilon, normed);
    layer_norm(net_, memory_, block.memory_norm, head_.epsilon, seen);
    attend_to(block.cross, normed, seen, options_);
    feed(block, options_);
  }

  void project_fields() {
    const OwnRows summaries = OwnRows::zeros(field_count(), head_.width);
    const OwnRows global(1, head_.width);
    multiply(net_, questions_, head_.question, fields_);
    for (int field = 0; field < field_count(); ++field) summarise(field, summaries.row(field));
    layer_norm(net_, summaries, head_.summary_norm, head_.epsilon, summaries);
    add(net_, fields_, summaries);
    multiply(net_, global_, head_.global, global);
    add_bias(net_, fields_, global.view(0));
    for (int field = 0; field < field_count(); ++field) {
      const std::span<const float> type = head_.types[at(spans_.types[at(field)])];
      net_.kernels->add_scaled(fields_.row(field), type.data(), 1.0f, head_.width);
    }
  }

  // The field's own options, each as much as it resembles the question.
  void summarise(int field, float* summary) const {
    const int begin = spans_.first_option[at(field)];
    std::vector<float> weights;
    for (int option = begin; option < spans_.first_option[at(field + 1)]; ++option) {
      const float dot = net_.kernels->dot(fields_.row(field), options_.row(option), head_.width);
      weights.push_back(dot / std::sqrt(static_cast<float>(head_.width)));
    }
    net_.kernels->softmax(weights.data(), count_of(weights));
    for (int i = 0; i < count_of(weights); ++i) {
      net_.kernels->add_scaled(summary, options_.row(begin + i), weights[at(i)], head_.width);
    }
  }

  void join(const FieldBlock& block) {
    const OwnRows normed(field_count(), head_.width);
    layer_norm(net_, fields_, block.self_norm, head_.epsilon, normed);
    attend_to(block.self, normed, normed, fields_);
    layer_norm(net_, fields_, block.cross_norm, head_.epsilon, normed);
    attend_to(block.cross, normed, memory_, fields_);
    feed(block, fields_);
  }

  // x += output(attention(normed, seen))
  void attend_to(const JointAttention& attention, const Rows& normed, const Rows& seen,
                 const Rows& x) const {
    const OwnRows queries(normed.count, head_.width), read(normed.count, head_.width);
    const OwnRows keys(seen.count, head_.width), values(seen.count, head_.width);
    multiply(net_, normed, attention.query, queries);
    const std::array<Product, 2> products = {
        {{&attention.key.weight, keys}, {&attention.value.weight, values}}};
    multiply(net_, seen, products);
    add_bias(net_, keys, attention.key.bias);
    add_bias(net_, values, attention.value.bias);
    const KeyValueRun run{keys.row(0), values.row(0), seen.count};
    const AttentionWork work{
        .queries = queries, .runs = std::span(&run, 1), .causal = false, .out = read};
    attend(net_, head_.shape, std::span(&work, 1));
    multiply(net_, read, attention.output, queries);
    add(net_, x, queries);
  }

  // x += down(gelu(up(norm(x))))
  void feed(const ReadingBlock& block, const Rows& x) const {
    const OwnRows normed(x.count, head_.width), inner(x.count, block.up.weight.rows);
    layer_norm(net_, x, block.feed_norm, head_.epsilon, normed);
    multiply(net_, normed, block.up, inner);
    gelu(net_, inner);
    multiply(net_, inner, block.down, normed);
    add(net_, x, normed);
  }

  std::vector<std::vector<double>> score() {
    layer_norm(net_, fields_, head_.field_norm, head_.epsilon, fields_);
    layer_norm(net_, options_, head_.option_norm, head_.epsilon, options_);
    const OwnRows residuals = score_pairs();
    std::vector<std::vector<double>> logits;
    for (int field = 0; field < field_count(); ++field) {
      const std::vector<float> anchor = anchor_of(field);
      std::vector<double>& own = logits.emplace_back();
      for (int o = spans_.first_option[at(field)]; o < spans_.first_option[at(field + 1)]; ++o) {
        const double prior = wide(head_.prior_scale) * cosine(lexical_.view(o), anchor);
        const double joint =
            wide(head_.joint_scale) * cosine(fields_.view(field), options_.view(o));
        own.push_back(prior + wide(head_.gate) * (joint + wide(*residuals.row(o))));
      }
    }
    return logits;
  }

  static double wide(float value) { return value; }

  // One value per option, from its vector and its field's.
  OwnRows score_pairs() const {
    const OwnRows features(option_count(), 4 * head_.width), hidden(option_count(), head_.width);
    OwnRows scores(option_count(), 1);
    for (int o = 0; o < option_count(); ++o) {
      const float* field = fields_.row(spans_.field_of[at(o)]);
      const float* option = options_.row(o);
      float* feature = features.row(o);
      for (int i = 0; i < head_.width; ++i) {
        feature[i] = field[i];
        feature[head_.width + i] = option[i];
        feature[2 * head_.width + i] = field[i] * option[i];
        feature[3 * head_.width + i] = std::abs(field[i] - option[i]);
      }
    }
    multiply(net_, features, head_.scorer, hidden);
    gelu(net_, hidden);
    multiply(net_, hidden, head_.scorer_out, scores);
    return scores;
  }

  // What the words of an option are held against: the question and the end of the prompt.
  std::vector<float> anchor_of(int field) const {
    const std::span<const float> question = questions_.view(field);
    std::vector<float> anchor(question.begin(), question.end());
    for (int i = 0; i < head_.hidden_width; ++i) anchor[at(i)] += global_.row(0)[i];
    return anchor;
  }

  const NetContext& net_;
  const JointHead& head_;
  const Spans spans_;
  const int row_count_;

  // Means over spans of the normed hidden rows, and of the options' output embeddings.
  const OwnRows questions_ = OwnRows::zeros(field_count(), head_.hidden_width);
  const OwnRows contexts_ = OwnRows::zeros(option_count(), head_.hidden_width);
  const OwnRows lexical_ = OwnRows::zeros(option_count(), head_.hidden_width);
  const OwnRows global_{1, head_.hidden_width};    // the last normed hidden row
  const OwnRows memory_{row_count_, head_.width};  // the prompt, as the head reads it
  OwnRows options_{option_count(), head_.width};
  OwnRows fields_{field_count(), head_.width};
};

}  // namespace

Result<std::shared_ptr<const JointHead>> open_joint_head(const gguf::File& file,
                                                         WeightSource& weights, int hidden_width,
                                                         int vocabulary_count) {
  ADJ_TRY(const ArchitectureKeys keys, ArchitectureKeys::open(file.metadata()));
  auto head = std::make_shared<JointHead>();
  head->hidden_width = hidden_width;
  ADJ_TRY(head->width, rows_of(file, "decision.proj_memory.weight"));
  ADJ_TRY(const int inner, rows_of(file, "dec.blk.0.ffn_up.weight"));
  ADJ_TRY(const double epsilon, keys.real("attention.layer_norm_epsilon", 0.0, 1.0));
  head->epsilon = static_cast<float>(epsilon);
  ADJ_TRY(head->shape, read_even_heads(keys, "decision.head_count", head->width, kHeadWidthMax));
  ADJ_TRY(head->token_rows, open_token_head(weights, vocabulary_count, hidden_width));

  HeadFinder finder(weights, *head, inner);
  ADJ_TRY_DONE(finder.find_norms());
  ADJ_TRY_DONE(finder.find_projections());
  ADJ_TRY_DONE(finder.find_scorer());
  ADJ_TRY(const int routing_count, keys.integer("decision.routing_block_count", 0, kLayerCountMax));
  ADJ_TRY(const int joint_count, keys.integer("decision.block_count", 0, kLayerCountMax));
  for (int i = 0; i < routing_count; ++i) {
    ADJ_TRY(RoutingBlock block, finder.find_routing(i));
    head->routing.push_back(std::move(block));
  }
  for (int i = 0; i < joint_count; ++i) {
    ADJ_TRY(FieldBlock block, finder.find_field(routing_count + i));
    head->joint.push_back(std::move(block));
  }
  return std::shared_ptr<const JointHead>(std::move(head));
}

JointReadout::JointReadout(std::shared_ptr<const JointHead> head, std::vector<JointField> fields)
    : head_(std::move(head)), fields_(std::move(fields)) {
  for (const JointField& field : fields_) {
    CHECK(field.type >= 0 && field.type < kTypeCount && field.rows.begin < field.rows.end);
    CHECK(!field.options.empty());
    for (const JointOption& option : field.options) {
      CHECK(option.rows.begin < option.rows.end);
      CHECK(count_of(option.tokens) == option.rows.end - option.rows.begin);
    }
  }
}

Result<std::vector<std::vector<double>>> JointReadout::read(
    const NetContext& net, std::span<const ReadoutInput> inputs) const {
  CHECK(!inputs.empty());
  NetContext exact = net;  // the head is a small part of the work, and answers hang on it
  exact.precision = Precision::f32;
  const std::vector<std::vector<double>> of_fields =
      JointPass(exact, *head_, fields_, *inputs.front().rows).run();
  std::vector<std::vector<double>> logits;
  for (const ReadoutInput& input : inputs) {
    CHECK(input.rows == inputs.front().rows && input.marks.size() == 1);
    logits.push_back(of_fields.at(at(input.marks.front())));
  }
  return logits;
}

}  // namespace adjudge
