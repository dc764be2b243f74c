#include "backbone/qwen35/delta_layer.h"

#include <array>
#include <cmath>

#include "base/try.h"
#include "nn/rows.h"

namespace adjudge {

namespace {

// ln(1 + e^x). Beyond 20 the difference to x is below a float's last bit, and e^x may overflow.
float softplus(float x) { return x > 20.0f ? x : std::log1p(std::exp(x)); }

float sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }

// What the delta rule takes from all rows: channels before the convolution, decays and betas as
// they leave their matrices. The gates of the outputs are needed for readers alone.
void project(const LayerContext& context, const DeltaWeights& weights, const Rows& x,
             const Rows& channels, const Rows& decays, const Rows& betas, const Rows& gates) {
  // A decay's error is raised to the power of the tokens it lasts for.
  const std::array<Product, 4> products = {{{&weights.qkv, channels},
                                            {&weights.alpha, decays, true},
                                            {&weights.beta, betas, true},
                                            {&weights.gate, gates}}};
  if (context.pass.all_read()) {
    multiply(context.net, x, products);
    return;
  }
  multiply(context.net, x, std::span(products).first(3));
  if (gates.count == 0) return;
  multiply(context.net, context.pass.readers_of(x), weights.gate, gates);
}

void convolve(const LayerContext& context, const DeltaWeights& weights, int slot,
              const Rows& channels, const Rows& out) {
  std::vector<ConvolutionWork>& works = context.lists.convolution;
  works.clear();
  for (const Pass::Segment& segment : context.pass.segments()) {
    works.push_back(
        {.x = slice_of(channels, segment.begin, segment.count),
         .history_in = segment.before == nullptr ? nullptr : segment.before->taps(slot),
         .history_out = segment.memory->awaits_more() ? segment.memory->taps(slot) : nullptr,
         .out = slice_of(out, segment.begin, segment.count)});
  }
  convolve_silu(context.net, weights.taps, works);
}

// decay = exp(rate * softplus(alpha x + step_bias)), beta = sigmoid(beta x); queries shrink by the
// root of their width.
void finish_rows(const LayerContext& context, const DeltaSizes& sizes, const DeltaWeights& weights,
                 const Rows& queries, const Rows& decays, const Rows& betas) {
  const float scale = 1.0f / std::sqrt(static_cast<float>(sizes.head_width));
  const auto finish_row = [&](int row, int) {
    float* decay = decays.row(row);
    float* beta = betas.row(row);
    for (int head = 0; head < sizes.value_head_count; ++head) {
      const float step = softplus(decay[head] + weights.step_bias[at(head)]);
      decay[head] = std::exp(weights.decay_rate[at(head)] * step);
      beta[head] = sigmoid(beta[head]);
    }
    float* query = queries.row(row);
    for (int i = 0; i < queries.width; ++i) query[i] *= scale;
  };
  context.net.pool->run(queries.count, finish_row);
}

void run_rule(const LayerContext& context, const DeltaSizes& sizes, int slot, const Rows& convolved,
              const Rows& decays, const Rows& betas, const Rows& out) {
  std::vector<DeltaWork>& works = context.lists.delta;
  works.clear();
  const int key_width = sizes.key_width();
  for (const Pass::Segment& segment : context.pass.segments()) {
    const auto own = [&](const Rows& rows) { return slice_of(rows, segment.begin, segment.count); };
    const Rows channels = own(convolved);
    works.push_back(
        {.queries = columns_of(channels, 0, key_width),
         .keys = columns_of(channels, key_width, key_width),
         .values = columns_of(channels, 2 * key_width, sizes.value_width()),
         .decays = own(decays),
         .betas = own(betas),
         .state_in = segment.before == nullptr ? nullptr : segment.before->state(slot),
         .state_out = segment.memory->awaits_more() ? segment.memory->state(slot) : nullptr,
         .out = own(out)});
  }
  apply_delta_rule(context.net, {sizes.key_head_count, sizes.value_head_count, sizes.head_width},
                   works);
}

}  // namespace

Result<DeltaSizes> read_delta_sizes(const ArchitectureKeys& keys, const TrunkKeys& trunk) {
  DeltaSizes sizes;
  sizes.epsilon = trunk.epsilon;
  ADJ_TRY(sizes.key_head_count, keys.count("ssm.group_count", kHeadCountMax));
  ADJ_TRY(sizes.value_head_count, keys.count("ssm.time_step_rank", kHeadCountMax));
  ADJ_TRY(sizes.head_width, keys.count("ssm.state_size", kHeadWidthMax));
  ADJ_TRY(sizes.tap_count, keys.count("ssm.conv_kernel", kTapCountMax));
  if (sizes.value_head_count % sizes.key_head_count != 0) {
    return keys.refuse("ssm.time_step_rank", std::to_string(sizes.value_head_count),
                       "a multiple of the " + std::to_string(sizes.key_head_count) + " of " +
                           keys.name("ssm.group_count"));
  }
  ADJ_TRY(const int inner, keys.integer_or("ssm.inner_size", sizes.value_width(), 0, 1 << 30));
  if (inner != sizes.value_width()) {
    return keys.refuse("ssm.inner_size", std::to_string(inner),
                       keys.name("ssm.time_step_rank") + " * " + keys.name("ssm.state_size") +
                           " = " + std::to_string(sizes.value_width()));
  }
  return sizes;
}

Result<DeltaWeights> find_delta(WeightSource& source, const std::string& block, int width,
                                const DeltaSizes& sizes) {
  DeltaWeights weights;
  const int heads = sizes.value_head_count;
  const int values = sizes.value_width();
  const int channels = sizes.channel_count();
  ADJ_TRY(weights.qkv, source.matrix(block + "attn_qkv.weight", channels, width));
  ADJ_TRY(weights.gate, source.matrix(block + "attn_gate.weight", values, width));
  ADJ_TRY(weights.alpha, source.matrix(block + "ssm_alpha.weight", heads, width));
  ADJ_TRY(weights.beta, source.matrix(block + "ssm_beta.weight", heads, width));
  ADJ_TRY(weights.output, source.matrix(block + "ssm_out.weight", width, values));
  ADJ_TRY(const std::span<const float> taps,
          source.vector(block + "ssm_conv1d.weight", channels * sizes.tap_count));
  weights.taps = ConvolutionTaps(taps, sizes.tap_count);
  ADJ_TRY(weights.decay_rate, source.vector(block + "ssm_a", heads));
  ADJ_TRY(weights.step_bias, source.vector(block + "ssm_dt.bias", heads));
  ADJ_TRY(weights.norm, source.vector(block + "ssm_norm.weight", sizes.head_width));
  return weights;
}

std::size_t delta_scratch(const DeltaSizes& sizes) {
  const int channels = sizes.channel_count();
  const int heads = sizes.value_head_count;
  return Scratch::stride_of({channels, channels, heads, heads, sizes.value_width()});
}

void apply_delta(const LayerContext& context, const DeltaSizes& sizes, const DeltaWeights& weights,
                 int slot, const Rows& x, const Rows& out) {
  const NetContext& net = context.net;
  Scratch::Frame frame(context.scratch);
  const Rows channels = frame.rows(x.count, sizes.channel_count());
  const Rows convolved = frame.rows(x.count, sizes.channel_count());
  const Rows decays = frame.rows(x.count, sizes.value_head_count);
  const Rows betas = frame.rows(x.count, sizes.value_head_count);
  const Rows gates = frame.rows(out.count, sizes.value_width());
  project(context, weights, x, channels, decays, betas, gates);

  convolve(context, weights, slot, channels, convolved);
  const Rows queries = columns_of(convolved, 0, sizes.key_width());
  const Rows queries_and_keys = columns_of(convolved, 0, 2 * sizes.key_width());
  l2_norm_heads(net, queries_and_keys, sizes.head_width, sizes.epsilon);
  finish_rows(context, sizes, weights, queries, decays, betas);
  const Rows outputs = columns_of(channels, 0, sizes.value_width());  // the channels are spent
  run_rule(context, sizes, slot, convolved, decays, betas, outputs);
  if (out.count == 0) return;  // a last layer that only fills memories

  const Rows read = context.pass.readers_of(outputs);
  rms_norm_heads(net, read, weights.norm, sizes.epsilon);
  swiglu(net, gates, read);  // silu(gate) * normed output
  multiply(net, gates, weights.output, out);
}

}  // namespace adjudge
