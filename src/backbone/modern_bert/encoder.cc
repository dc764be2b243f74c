#include "backbone/modern_bert/encoder.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <string>

#include "base/try.h"

namespace adjudge {

namespace {

// Nothing stays of a sequence that is evaluated whole.
class EncoderMemory final : public Memory {
 public:
  int length() const override { return length_; }
  std::size_t bytes() const override { return 0; }
  std::vector<std::span<const std::byte>> contents() const override { return {}; }
  bool fill(std::span<const std::byte>) override { return false; }
  void take(int count) { length_ += count; }

 private:
  int length_ = 0;
};

int row_count_of(const Input& input, int width) {
  return input.tokens.empty() ? count_of(input.embeddings) / width : count_of(input.tokens);
}

Error refused(std::string message) { return {ErrorKind::not_supported, std::move(message)}; }

}  // namespace

Encoder::Encoder(EncoderParts parts, const NetContext& net, const BackboneOptions& options)
    : parts_(std::move(parts)),
      net_(net),
      rows_max_(options.rows_max),
      // The residual stream, its normed copy and what a half layer adds to it; beside them keys and
      // values, or gate and up.
      row_floats_(3 * Scratch::stride_of(parts_.traits.width) +
                  2 * Scratch::stride_of(std::max(parts_.traits.width, parts_.inner_max))) {
  CHECK(rows_max_ > 0);
}

std::unique_ptr<Memory> Encoder::begin(const MemoryOptions& options) const {
  CHECK(options.parent == nullptr && !options.continued);  // nothing comes after a whole sequence
  return std::make_unique<EncoderMemory>();
}

std::size_t Encoder::scratch_bytes() const {
  return std::max(scratch_.size(), at(rows_max_) * row_floats_) * sizeof(float);
}

Status Encoder::check(const Work& work) const {
  const Input& input = work.input;
  const int width = parts_.traits.width;
  if (input.causal) return refused("this network sees later tokens too: causal must be false");
  if (!input.token_types.empty()) return refused("this network has no token types");
  if (work.memory->length() > 0) return refused("this network takes a sequence in one work");
  const int count = row_count_of(input, width);
  CHECK(count > 0 && (input.tokens.empty() || input.embeddings.empty()));
  CHECK(input.tokens.size() * at(width) + input.embeddings.size() == at(count) * at(width));
  if (count_of(input.positions) == 3 * count) {
    return refused("this network knows one position per token, not three");
  }
  CHECK(input.positions.empty() || count_of(input.positions) == count);
  CHECK(std::ranges::adjacent_find(work.wanted, std::greater_equal<>()) == work.wanted.end());
  CHECK(work.wanted.empty() || (work.rows != nullptr && work.rows->width() == width &&
                                work.wanted.front() >= 0 && work.wanted.back() < count));
  for (const Token token : input.tokens) {
    if (token >= 0 && token < parts_.traits.vocabulary_count) continue;
    return Error{ErrorKind::bad_request, "token " + std::to_string(token) + " of a vocabulary of " +
                                             std::to_string(parts_.traits.vocabulary_count)};
  }
  return Done{};
}

// Lays the works' rows side by side. Nothing has changed on error.
Status Encoder::place(std::span<const Work> works) const {
  for (const Work& work : works) ADJ_TRY_DONE(check(work));
  sequences_.clear();
  int row_count = 0;
  for (const Work& work : works) {
    const int count = row_count_of(work.input, parts_.traits.width);
    sequences_.push_back({row_count, count});
    row_count += count;
    static_cast<EncoderMemory*>(work.memory)->take(count);
  }
  CHECK(works.size() == 1 || row_count <= rows_max_);
  positions_.resize(at(row_count));
  for (std::size_t i = 0; i < works.size(); ++i) {
    const std::span<const int> given = works[i].input.positions;
    const std::span<int> own =
        std::span(positions_).subspan(at(sequences_[i].begin), at(sequences_[i].count));
    if (given.empty()) {
      std::iota(own.begin(), own.end(), 0);
    } else {
      std::ranges::copy(given, own.begin());
    }
  }
  return Done{};
}

Status Encoder::extend(std::span<const Work> works, std::stop_token stop) const {
  ADJ_TRY_DONE(place(works));
  const int row_count = count_of(positions_);
  scratch_.ensure(at(std::max(rows_max_, row_count)) * row_floats_);
  Scratch::Frame frame(scratch_);
  const Rows x = frame.rows(row_count, parts_.traits.width);
  const Rows normed = frame.rows(row_count, parts_.traits.width);
  const Rows added = frame.rows(row_count, parts_.traits.width);
  embed(works, x);
  for (const EncoderLayer& layer : parts_.layers) {
    if (stop.stop_requested()) return Error{ErrorKind::cancelled, "stopped between layers"};
    attend_within(layer, x, normed, added);
    add(net_, x, added);
    feed(layer, x, normed, added);
    add(net_, x, added);
  }
  layer_norm(net_, x, parts_.output_norm, {}, parts_.epsilon, x);
  hand_out(works, x);
  return Done{};
}

void Encoder::embed(std::span<const Work> works, const Rows& x) const {
  for (std::size_t i = 0; i < works.size(); ++i) {
    const Rows own = slice_of(x, sequences_[i].begin, sequences_[i].count);
    const Input& input = works[i].input;
    if (!input.tokens.empty()) gather(net_, parts_.embedding, input.tokens, own);
    for (int row = 0; input.tokens.empty() && row < own.count; ++row) {
      std::copy_n(input.embeddings.data() + at(row) * at(own.width), own.width, own.row(row));
    }
  }
  layer_norm(net_, x, parts_.embedding_norm, {}, parts_.epsilon, x);
}

// added = output(attention(norm(x))), each sequence for itself.
void Encoder::attend_within(const EncoderLayer& layer, const Rows& x, const Rows& normed,
                            const Rows& added) const {
  Scratch::Frame frame(scratch_);
  const Rows keys = without_gaps(frame.rows(x.count, x.width));
  const Rows values = without_gaps(frame.rows(x.count, x.width));
  const Rows queries = added;
  const bool norms = !layer.attention_norm.empty();
  if (norms) layer_norm(net_, x, layer.attention_norm, {}, parts_.epsilon, normed);
  const std::array<Product, 3> products = {
      {{&layer.query, queries}, {&layer.key, keys}, {&layer.value, values}}};
  multiply(net_, norms ? normed : x, products);
  rotator_.rotate_heads(net_, queries, parts_.shape.head_width, layer.rotary, positions_);
  rotator_.rotate_heads(net_, keys, parts_.shape.head_width, layer.rotary, positions_);

  runs_.clear();
  attention_.clear();
  for (const Sequence& own : sequences_) {
    runs_.push_back({keys.row(own.begin), values.row(own.begin), own.count});
  }
  const Rows attended = normed;
  for (std::size_t i = 0; i < sequences_.size(); ++i) {
    const Sequence& own = sequences_[i];
    AttentionWork work;
    work.queries = slice_of(queries, own.begin, own.count);
    work.runs = std::span(runs_).subspan(i, 1);
    work.causal = false;
    work.window = layer.window;
    work.out = slice_of(attended, own.begin, own.count);
    attention_.push_back(work);
  }
  attend(net_, parts_.shape, attention_);
  multiply(net_, attended, layer.output, added);
}

// added = down(activation(gate(norm(x))) * up(norm(x)))
void Encoder::feed(const EncoderLayer& layer, const Rows& x, const Rows& normed,
                   const Rows& added) const {
  Scratch::Frame frame(scratch_);
  const Rows gate = frame.rows(x.count, layer.gate.rows);
  const Rows up = frame.rows(x.count, layer.up.rows);
  layer_norm(net_, x, layer.feed_norm, {}, parts_.epsilon, normed);
  const std::array<Product, 2> products = {{{&layer.gate, gate}, {&layer.up, up}}};
  multiply(net_, normed, products);
  (parts_.activation == Gate::gelu ? geglu : swiglu)(net_, gate, up);
  multiply(net_, gate, layer.down, added);
}

void Encoder::hand_out(std::span<const Work> works, const Rows& x) const {
  for (std::size_t i = 0; i < works.size(); ++i) {
    for (const int row : works[i].wanted) {
      std::copy_n(x.row(sequences_[i].begin + row), x.width, works[i].rows->add_row().data());
    }
  }
}

}  // namespace adjudge
