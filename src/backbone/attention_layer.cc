#include "backbone/attention_layer.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/try.h"
#include "nn/rows.h"

namespace adjudge {

namespace {

Result<Rotary> read_rotary(const ArchitectureKeys& keys, int head_width) {
  ADJ_TRY_DONE(refuse_stretched_positions(keys));
  Rotary rotary;
  ADJ_TRY(rotary.dimensions, keys.integer_or("rope.dimension_count", head_width, 2, kHeadWidthMax));
  const int most = std::min(head_width, 2 * kRotaryHalfMax);
  if (rotary.dimensions % 2 != 0 || rotary.dimensions > most) {
    return keys.refuse("rope.dimension_count", std::to_string(rotary.dimensions),
                       "an even number up to " + std::to_string(most));
  }
  if (keys.metadata().has(keys.name("rope.freq_base"))) {
    ADJ_TRY(rotary.base, keys.real("rope.freq_base", 1.0, 1e15));
  }
  return rotary;
}

Result<int> read_head_width(const ArchitectureKeys& keys, int width, int head_count) {
  if (!keys.metadata().has(keys.name("attention.key_length"))) {
    if (width % head_count != 0) {
      return keys.refuse("attention.head_count", std::to_string(head_count),
                         "a divisor of the width, " + std::to_string(width));
    }
    return width / head_count;
  }
  ADJ_TRY(const int head_width, keys.count("attention.key_length", kHeadWidthMax));
  ADJ_TRY(const int value_width,
          keys.integer_or("attention.value_length", head_width, 1, kHeadWidthMax));
  if (value_width != head_width) {
    return keys.refuse("attention.value_length", std::to_string(value_width),
                       "the width of a key, " + std::to_string(head_width));
  }
  return head_width;
}

// Three tensors, or the rows of a fused one.
struct Projections {
  Matrix query, key, value;
};

Result<Projections> find_projections(WeightSource& source, const std::string& block, int width,
                                     const AttentionSizes& sizes) {
  const int query_rows = sizes.projection_width();
  const int rows = sizes.key_value_width();
  Projections found;
  if (source.has(block + "attn_qkv.weight")) {
    ADJ_TRY(const Matrix fused,
            source.matrix(block + "attn_qkv.weight", query_rows + 2 * rows, width));
    found.query = fused.part(0, query_rows);
    found.key = fused.part(query_rows, rows);
    found.value = fused.part(query_rows + rows, rows);
    return found;
  }
  ADJ_TRY(found.query, source.matrix(block + "attn_q.weight", query_rows, width));
  ADJ_TRY(found.key, source.matrix(block + "attn_k.weight", rows, width));
  ADJ_TRY(found.value, source.matrix(block + "attn_v.weight", rows, width));
  return found;
}

Status find_biases(WeightSource& source, const std::string& block, const AttentionSizes& sizes,
                   AttentionWeights& weights) {
  const int query_rows = sizes.projection_width();
  const int rows = sizes.key_value_width();
  if (source.has(block + "attn_qkv.bias")) {
    ADJ_TRY(const std::span<const float> fused,
            source.vector(block + "attn_qkv.bias", query_rows + 2 * rows));
    weights.query_bias = fused.subspan(0, at(query_rows));
    weights.key_bias = fused.subspan(at(query_rows), at(rows));
    weights.value_bias = fused.subspan(at(query_rows + rows), at(rows));
    return Done{};
  }
  ADJ_TRY(weights.query_bias, source.vector(block + "attn_q.bias", query_rows));
  ADJ_TRY(weights.key_bias, source.vector(block + "attn_k.bias", rows));
  ADJ_TRY(weights.value_bias, source.vector(block + "attn_v.bias", rows));
  return Done{};
}

// Keys and values of all rows, queries of the readers.
void project(const LayerContext& context, const AttentionWeights& weights, const Rows& x,
             const Rows& queries, const Rows& keys, const Rows& values) {
  const NetContext& net = context.net;
  const std::array<Product, 3> products = {
      {{&weights.key, keys}, {&weights.value, values}, {&weights.query, queries}}};
  if (context.pass.all_read()) {
    multiply(net, x, products);
  } else {
    multiply(net, x, std::span(products).first(2));
    if (queries.count > 0) multiply(net, context.pass.readers_of(x), weights.query, queries);
  }
  if (weights.query_bias.empty()) return;
  add_bias(net, keys, weights.key_bias);
  add_bias(net, values, weights.value_bias);
  add_bias(net, queries, weights.query_bias);
}

void finish_heads(const LayerContext& context, const AttentionSizes& sizes, const Rows& heads,
                  std::span<const float> norm, std::span<const int> positions) {
  if (!norm.empty()) rms_norm_heads(context.net, heads, norm, sizes.epsilon);
  context.lists.rotator.rotate_heads(context.net, heads, sizes.head_width, sizes.rotary, positions);
}

void remember(const LayerContext& context, int slot, const Rows& keys, const Rows& values) {
  const std::span<const Pass::Segment> segments = context.pass.segments();
  const std::size_t width = at(keys.width);
  const auto copy_segment = [&](int index, int) {
    const Pass::Segment& segment = segments[at(index)];
    float* key = segment.memory->keys(slot) + at(segment.own_begin) * width;
    float* value = segment.memory->values(slot) + at(segment.own_begin) * width;
    for (int row = segment.begin; row < segment.begin + segment.count; ++row) {
      key = std::copy_n(keys.row(row), width, key);
      value = std::copy_n(values.row(row), width, value);
    }
  };
  context.net.pool->run(count_of(segments), copy_segment);
}

// Queries and gates of a head stand side by side in the projection: [query | gate] per head.
void part_heads(const NetContext& net, const AttentionSizes& sizes, const Rows& projected,
                const Rows& queries, const Rows& gates) {
  const std::size_t width = at(sizes.head_width);
  const auto part_row = [&](int row, int) {
    const float* from = projected.row(row);
    float* query = queries.row(row);
    float* gate = gates.row(row);
    for (int head = 0; head < sizes.head_count; ++head, from += 2 * width) {
      query = std::copy_n(from, width, query);
      gate = std::copy_n(from + width, width, gate);
    }
  };
  net.pool->run(projected.count, part_row);
}

// The keys and values each segment sees: those of its ancestors, then its own.
void find_runs(const LayerContext& context, int slot) {
  std::vector<KeyValueRun>& runs = context.lists.key_value_runs;
  std::vector<std::size_t>& begins = context.lists.run_begins;
  runs.clear();
  begins.assign(1, 0);
  for (const Pass::Segment& segment : context.pass.segments()) {
    segment.memory->append_runs(slot, segment.own_begin + segment.count, runs);
    begins.push_back(runs.size());
  }
}

void attend_readers(const LayerContext& context, const AttentionSizes& sizes, int slot,
                    const Rows& queries, const Rows& out) {
  find_runs(context, slot);
  const std::span<const KeyValueRun> runs = context.lists.key_value_runs;
  const std::vector<std::size_t>& begins = context.lists.run_begins;
  std::vector<AttentionWork>& works = context.lists.attention;
  works.clear();
  for (const ReaderRun& reader : context.pass.reader_runs()) {
    const std::size_t begin = begins[at(reader.segment)];
    AttentionWork work;
    work.queries = slice_of(queries, reader.begin, reader.count);
    work.runs = runs.subspan(begin, begins[at(reader.segment) + 1] - begin);
    const Pass::Segment& segment = context.pass.segments()[at(reader.segment)];
    work.first_visible = segment.position_begin + reader.offset + 1;
    work.out = slice_of(out, reader.begin, reader.count);
    works.push_back(work);
  }
  const AttentionShape shape{sizes.head_count, sizes.kv_head_count, sizes.head_width,
                             1.0f / std::sqrt(static_cast<float>(sizes.head_width))};
  attend(context.net, shape, works);
}

}  // namespace

Result<AttentionSizes> read_attention_sizes(const ArchitectureKeys& keys, const TrunkKeys& trunk) {
  AttentionSizes sizes;
  sizes.epsilon = trunk.epsilon;
  ADJ_TRY(sizes.head_count, keys.count("attention.head_count", kHeadCountMax));
  ADJ_TRY(sizes.kv_head_count,
          keys.integer_or("attention.head_count_kv", sizes.head_count, 1, kHeadCountMax));
  if (sizes.head_count % sizes.kv_head_count != 0) {
    return keys.refuse("attention.head_count", std::to_string(sizes.head_count),
                       "a multiple of the " + std::to_string(sizes.kv_head_count) + " of " +
                           keys.name("attention.head_count_kv"));
  }
  ADJ_TRY(sizes.head_width, read_head_width(keys, trunk.width, sizes.head_count));
  ADJ_TRY(sizes.rotary, read_rotary(keys, sizes.head_width));
  return sizes;
}

Result<AttentionWeights> find_attention(WeightSource& source, const std::string& block, int width,
                                        const AttentionSizes& sizes,
                                        const AttentionExtras& extras) {
  AttentionWeights weights;
  ADJ_TRY(const Projections found, find_projections(source, block, width, sizes));
  weights.query = found.query;
  weights.key = found.key;
  weights.value = found.value;
  ADJ_TRY(weights.output, source.matrix(block + "attn_output.weight", width, sizes.query_width()));
  // Biases that a file brings count, even where its architecture usually has none.
  if (extras.biases || source.has(block + "attn_q.bias") || source.has(block + "attn_qkv.bias")) {
    ADJ_TRY_DONE(find_biases(source, block, sizes, weights));
  }
  if (extras.head_norms) {
    ADJ_TRY(weights.query_norm, source.vector(block + "attn_q_norm.weight", sizes.head_width));
    ADJ_TRY(weights.key_norm, source.vector(block + "attn_k_norm.weight", sizes.head_width));
  }
  return weights;
}

std::size_t attention_scratch(const AttentionSizes& sizes) {
  const int queries = sizes.query_width();
  const int keys = sizes.key_value_width();
  return Scratch::stride_of({queries, keys, keys, queries}) +
         (sizes.gated ? Scratch::stride_of({2 * queries, queries}) : 0);
}

void apply_attention(const LayerContext& context, const AttentionSizes& sizes,
                     const AttentionWeights& weights, int slot, const Rows& x, const Rows& out) {
  const NetContext& net = context.net;
  Pass& pass = context.pass;
  Scratch::Frame frame(context.scratch);
  const Rows keys = frame.rows(x.count, sizes.key_value_width());
  const Rows values = frame.rows(x.count, sizes.key_value_width());
  const Rows queries = frame.rows(out.count, sizes.query_width());
  const Rows projected = sizes.gated ? frame.rows(out.count, sizes.projection_width()) : queries;

  project(context, weights, x, projected, keys, values);
  finish_heads(context, sizes, keys, weights.key_norm, pass.positions());
  remember(context, slot, keys, values);
  if (out.count == 0) return;  // a last layer that only fills memories

  const Rows gates = sizes.gated ? frame.rows(out.count, sizes.query_width()) : Rows{};
  if (sizes.gated) part_heads(net, sizes, projected, queries, gates);
  finish_heads(context, sizes, queries, weights.query_norm, pass.reader_positions());
  const Rows attended = frame.rows(out.count, sizes.query_width());
  attend_readers(context, sizes, slot, queries, attended);
  if (sizes.gated) sigmoid_gate(net, attended, gates);
  multiply(net, attended, weights.output, out);
}

}  // namespace adjudge
