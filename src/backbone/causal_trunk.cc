#include "backbone/causal_trunk.h"

#include <algorithm>

#include "base/try.h"
#include "nn/rows.h"

namespace adjudge {

std::string block_name(int layer) { return "blk." + std::to_string(layer) + "."; }

Result<TrunkWeights> find_trunk(WeightSource& source, const TrunkKeys& keys,
                                std::string_view feed_norm) {
  TrunkWeights weights;
  ADJ_TRY(weights.embedding, source.matrix("token_embd.weight", keys.vocabulary_count, keys.width));
  ADJ_TRY(weights.output_norm, source.vector("output_norm.weight", keys.width));
  for (int layer = 0; layer < keys.layer_count; ++layer) {
    const std::string block = block_name(layer);
    BlockNorms norms;
    ADJ_TRY(norms.mixer, source.vector(block + "attn_norm.weight", keys.width));
    ADJ_TRY(norms.feed, source.vector(block + std::string(feed_norm) + ".weight", keys.width));
    weights.blocks.push_back(norms);
  }
  return weights;
}

CausalTrunk::CausalTrunk(Parts parts, const NetContext& net, const BackboneOptions& options)
    : traits_(std::move(parts.traits)),
      weights_(std::move(parts.weights)),
      epsilon_(parts.epsilon),
      memory_shape_(parts.memory),
      position_axes_(parts.position_axes),
      net_(net),
      options_(options),
      // The residual stream, its normed copy, and what a half block adds to it.
      scratch_floats_(at(options.rows_max) *
                      (3 * Scratch::stride_of(traits_.width) + parts.layer_scratch)) {
  CHECK(options.rows_max > 0);
}

std::unique_ptr<Memory> CausalTrunk::begin(const MemoryOptions& options) const {
  return std::make_unique<SequenceMemory>(memory_shape_, options, spares_);
}

Status CausalTrunk::extend(std::span<const Work> works, std::stop_token stop) const {
  const PassLimits limits{options_.rows_max, traits_.width, traits_.vocabulary_count,
                          position_axes_};
  ADJ_TRY_DONE(pass_.begin(works, limits));
  scratch_.ensure(scratch_floats_);
  Scratch::Frame frame(scratch_);
  Rows x = frame.rows(pass_.row_count(), traits_.width);
  embed(works, x);
  for (int layer = 0; layer < traits_.layer_count; ++layer) {
    if (stop.stop_requested()) return Error{ErrorKind::cancelled, "stopped between layers"};
    if (layer == traits_.layer_count - 1) pass_.enter_last_layer(x);
    if (x.count > 0) apply_block(layer, x);
  }
  hand_out(x);
  return Done{};
}

void CausalTrunk::embed(std::span<const Work> works, const Rows& x) const {
  int begin = 0;
  for (const Work& work : works) {
    const Input& input = work.input;
    if (input.tokens.empty()) {
      const int count = count_of(input.embeddings) / traits_.width;
      for (int i = 0; i < count; ++i) {
        std::copy_n(input.embeddings.data() + at(i) * at(traits_.width), traits_.width,
                    x.row(begin + i));
      }
      begin += count;
    } else {
      const int count = count_of(input.tokens);
      gather(net_, weights_.embedding, input.tokens, slice_of(x, begin, count));
      begin += count;
    }
  }
}

// x += mix(norm(x)); x += feed(norm(x)). After the mixer of the last layer only readers go on.
void CausalTrunk::apply_block(int layer, Rows& x) const {
  const LayerContext context{net_, pass_, scratch_, lists_};
  const BlockNorms& norms = weights_.blocks[at(layer)];
  Scratch::Frame frame(scratch_);
  Rows normed = frame.rows(x.count, x.width);
  const Rows added = frame.rows(pass_.reader_count(), x.width);

  rms_norm(net_, x, norms.mixer, epsilon_, normed);
  mix(layer, context, normed, added);
  x = pass_.readers_of(x);
  if (x.count == 0) return;
  add(net_, x, added);

  normed.count = x.count;
  rms_norm(net_, x, norms.feed, epsilon_, normed);
  feed(layer, context, normed, added);
  add(net_, x, added);
}

void CausalTrunk::hand_out(const Rows& x) const {
  if (x.count == 0) return;
  rms_norm(net_, x, weights_.output_norm, epsilon_, x);
  int row = 0;
  for (const Pass::Segment& segment : pass_.segments()) {
    for (std::size_t i = 0; i < segment.wanted.size(); ++i, ++row) {
      std::copy_n(x.row(row), x.width, segment.rows->add_row().data());
    }
  }
}

}  // namespace adjudge
