#include "readout/marker.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "backbone/keys.h"
#include "backbone/scratch.h"
#include "nn/rows.h"

namespace adjudge {
namespace {

// Rows that go through the head together, unless one prompt has more.
constexpr int kRowsTogether = 512;

constexpr int kTypeCount = 3;  // choice, score, noul

BiasedMatrix part_of(const BiasedMatrix& fused, int begin, int count) {
  return {fused.weight.part(begin, count), fused.bias.subspan(at(begin), at(count))};
}

// The last width that feed_forward_length names is the head's.
Result<int> read_inner(const ArchitectureKeys& keys) {
  constexpr std::string_view kKey = "feed_forward_length";
  ADJ_TRY(const std::vector<std::int64_t> widths, keys.metadata().integers(keys.name(kKey)));
  if (!widths.empty() && widths.back() >= 1 && widths.back() <= kWidthMax) {
    return static_cast<int>(widths.back());
  }
  return keys.refuse(kKey, widths.empty() ? "none" : std::to_string(widths.back()),
                     "1 to " + std::to_string(kWidthMax));
}

Result<MarkerBlock> find_block(WeightSource& weights, int index, int width, int inner) {
  const std::string name = "blk." + std::to_string(index) + ".";
  MarkerBlock block;
  ADJ_TRY(block.attention_norm, find_biased_norm(weights, name + "attn_norm", width));
  ADJ_TRY(const BiasedMatrix fused,
          find_biased_matrix(weights, name + "attn_qkv", 3 * width, width));
  block.query = part_of(fused, 0, width);
  block.key = part_of(fused, width, width);
  block.value = part_of(fused, 2 * width, width);
  ADJ_TRY(block.output, find_biased_matrix(weights, name + "attn_output", width, width));
  ADJ_TRY(block.feed_norm, find_biased_norm(weights, name + "ffn_norm", width));
  ADJ_TRY(block.up, find_biased_matrix(weights, name + "ffn_up", inner, width));
  ADJ_TRY(block.down, find_biased_matrix(weights, name + "ffn_down", width, inner));
  return block;
}

// Neighbouring rows of one prompt.
struct Stretch {
  int begin = 0;
  int count = 0;
};

// Several prompts on their way through the head, side by side.
class HeadPass {
 public:
  HeadPass(const NetContext& net, const MarkerHead& head, std::span<const ReadoutInput> inputs)
      : net_(net), head_(head) {
    int row_count = 0;
    for (const ReadoutInput& input : inputs) {
      prompts_.push_back({row_count, input.rows->count()});
      marked_.push_back({count_of(marked_rows_), count_of(input.marks)});
      for (const int mark : input.marks) {
        CHECK(mark >= 0 && mark < input.rows->count());
        marked_rows_.push_back(row_count + mark);
      }
      row_count += input.rows->count();
    }
    CHECK(std::ranges::adjacent_find(marked_rows_, std::greater_equal<>()) == marked_rows_.end());
    scratch_.ensure(at(row_count) * floats_per_row());
  }

  std::vector<std::vector<double>> run(std::span<const ReadoutInput> inputs, int type) {
    Scratch::Frame frame(scratch_);
    Rows x = frame.rows(prompts_.back().begin + prompts_.back().count, head_.width);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      for (int row = 0; row < prompts_[i].count; ++row) {
        std::ranges::copy(inputs[i].rows->row(row), x.row(prompts_[i].begin + row));
      }
    }
    add_bias(net_, x, head_.types[at(type)]);
    for (const MarkerBlock& block : head_.blocks) {
      const bool last = &block == &head_.blocks.back();
      attend_within(block, last, x);
      feed(block, x);
    }
    return score(x);
  }

 private:
  // The residual stream and its normed copy; queries, keys and values, or the inner rows.
  std::size_t floats_per_row() const {
    const std::size_t width = Scratch::stride_of(head_.width);
    const std::size_t inner = Scratch::stride_of(head_.blocks.front().up.weight.rows);
    return 2 * width + std::max(3 * width, inner);
  }

  // The marked rows of x, moved to its front.
  Rows keep_marked(const Rows& x) const {
    for (int i = 0; i < count_of(marked_rows_); ++i) {
      const int row = marked_rows_[at(i)];
      if (row != i) std::copy_n(x.row(row), x.width, x.row(i));
    }
    return {x.data, count_of(marked_rows_), x.width, x.stride};
  }

  // x += output(attention(norm(x))). In the last block all rows are seen, but only marked ones see,
  // and x becomes those.
  void attend_within(const MarkerBlock& block, bool last, Rows& x) {
    Scratch::Frame frame(scratch_);
    const int width = head_.width;
    Rows normed = frame.rows(x.count, width);
    const Rows keys = without_gaps(frame.rows(x.count, width));
    const Rows values = without_gaps(frame.rows(x.count, width));
    layer_norm(net_, x, block.attention_norm, head_.epsilon, normed);
    const std::array<Product, 2> products = {
        {{&block.key.weight, keys}, {&block.value.weight, values}}};
    multiply(net_, normed, products);
    add_bias(net_, keys, block.key.bias);
    add_bias(net_, values, block.value.bias);
    if (last) {
      normed = keep_marked(normed);
      x = keep_marked(x);
    }
    const Rows queries = frame.rows(x.count, width);
    multiply(net_, normed, block.query, queries);
    attend_each(queries, last ? marked_ : prompts_, keys, values, normed);
    multiply(net_, normed, block.output, queries);
    add(net_, x, queries);
  }

  // Every prompt's queries over all rows of that prompt.
  void attend_each(const Rows& queries, std::span<const Stretch> readers, const Rows& keys,
                   const Rows& values, const Rows& out) const {
    std::vector<KeyValueRun> runs;
    for (const Stretch& prompt : prompts_) {
      runs.push_back({keys.row(prompt.begin), values.row(prompt.begin), prompt.count});
    }
    std::vector<AttentionWork> works;
    for (std::size_t i = 0; i < prompts_.size(); ++i) {
      AttentionWork work;
      work.queries = slice_of(queries, readers[i].begin, readers[i].count);
      work.runs = std::span(runs).subspan(i, 1);
      work.causal = false;
      work.out = slice_of(out, readers[i].begin, readers[i].count);
      works.push_back(work);
    }
    attend(net_, head_.shape, works);
  }

  // x += down(relu(up(norm(x))))
  void feed(const MarkerBlock& block, const Rows& x) {
    Scratch::Frame frame(scratch_);
    const Rows normed = frame.rows(x.count, head_.width);
    const Rows inner = frame.rows(x.count, block.up.weight.rows);
    layer_norm(net_, x, block.feed_norm, head_.epsilon, normed);
    multiply(net_, normed, block.up, inner);
    relu(net_, inner);
    multiply(net_, inner, block.down, normed);
    add(net_, x, normed);
  }

  std::vector<std::vector<double>> score(const Rows& x) {
    Scratch::Frame frame(scratch_);
    const Rows hidden = frame.rows(x.count, head_.width);
    const Rows scores = frame.rows(x.count, 1);
    layer_norm(net_, x, head_.score_norm, head_.epsilon, x);
    multiply(net_, x, head_.score_hidden, hidden);
    gelu(net_, hidden);
    multiply(net_, hidden, head_.score, scores);
    std::vector<std::vector<double>> logits;
    for (const Stretch& own : marked_) {
      std::vector<double>& read = logits.emplace_back();
      for (int i = own.begin; i < own.begin + own.count; ++i) {
        read.push_back(static_cast<double>(*scores.row(i)));
      }
    }
    return logits;
  }

  const NetContext& net_;
  const MarkerHead& head_;
  Scratch scratch_;
  std::vector<Stretch> prompts_;  // per input, its rows
  std::vector<Stretch> marked_;   // per input, its marked rows among all marked ones
  std::vector<int> marked_rows_;  // ascending
};

// How many of the inputs, from the first, go together.
std::size_t group_size(std::span<const ReadoutInput> inputs) {
  std::size_t size = 1;
  int rows = inputs.front().rows->count();
  while (size < inputs.size() && rows + inputs[size].rows->count() <= kRowsTogether) {
    rows += inputs[size++].rows->count();
  }
  return size;
}

}  // namespace

Result<std::shared_ptr<const MarkerHead>> open_marker_head(const gguf::Metadata& metadata,
                                                           WeightSource& weights, int width) {
  ADJ_TRY(const ArchitectureKeys keys, ArchitectureKeys::open(metadata));
  auto head = std::make_shared<MarkerHead>();
  head->width = width;
  ADJ_TRY(const double epsilon, keys.real("attention.layer_norm_epsilon", 0.0, 1.0));
  head->epsilon = static_cast<float>(epsilon);
  ADJ_TRY(head->shape, read_even_heads(keys, "attention.head_count", width, kHeadWidthMax));
  ADJ_TRY(const int block_count, keys.count("block_count", kLayerCountMax));
  ADJ_TRY(const int head_blocks, keys.integer("decision.block_count", 1, block_count));
  ADJ_TRY(const int inner, read_inner(keys));
  for (int index = block_count - head_blocks; index < block_count; ++index) {
    ADJ_TRY(MarkerBlock block, find_block(weights, index, width, inner));
    head->blocks.push_back(std::move(block));
  }
  ADJ_TRY(const std::span<const float> types,
          weights.vector("token_types.weight", kTypeCount * width));
  for (int type = 0; type < kTypeCount; ++type) {
    head->types.push_back(types.subspan(at(type * width), at(width)));
  }
  ADJ_TRY(head->score_norm, find_biased_norm(weights, "cls.norm", width));
  ADJ_TRY(head->score_hidden, find_biased_matrix(weights, "cls", width, width));
  ADJ_TRY(head->score, find_biased_matrix(weights, "cls.output", 1, width));
  return std::shared_ptr<const MarkerHead>(std::move(head));
}

MarkerReadout::MarkerReadout(std::shared_ptr<const MarkerHead> head, int type)
    : head_(std::move(head)), type_(type) {
  CHECK(type_ >= 0 && type_ < count_of(head_->types));
}

Result<std::vector<std::vector<double>>> MarkerReadout::read(
    const NetContext& net, std::span<const ReadoutInput> inputs) const {
  std::vector<std::vector<double>> logits;
  while (!inputs.empty()) {
    const auto together = inputs.first(group_size(inputs));
    HeadPass pass(net, *head_, together);
    for (std::vector<double>& read : pass.run(together, type_)) logits.push_back(std::move(read));
    inputs = inputs.subspan(together.size());
  }
  return logits;
}

}  // namespace adjudge
