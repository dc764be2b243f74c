#include "backbone/qwen35moe/expert_mlp.h"

#include <algorithm>
#include <cmath>

#include "base/try.h"

namespace adjudge {

namespace {

// The smallest sum that chosen probabilities are divided by: 2^-14, the least normal half float.
constexpr float kWeightSumMin = 0x1p-14f;

// The row's best experts in descending probability, the first of equals first; their probabilities
// divided by their sum.
void choose_experts(float* probabilities, const ExpertSizes& sizes, std::span<ExpertShare> chosen) {
  float sum = 0.0f;
  for (ExpertShare& share : chosen) {
    float* best = std::max_element(probabilities, probabilities + sizes.expert_count);
    share.expert = static_cast<int>(best - probabilities);
    share.weight = *best;
    sum += share.weight;
    *best = -1.0f;  // below every probability: not chosen twice
  }
  for (ExpertShare& share : chosen) share.weight /= std::max(sum, kWeightSumMin);
}

// Every row's shares, sorted so that the rows of an expert stand together.
void route(const NetContext& net, Scratch& scratch, const ExpertSizes& sizes, const Matrix& router,
           const Rows& x, std::vector<ExpertShare>& shares) {
  Scratch::Frame frame(scratch);
  const Rows logits = frame.rows(x.count, sizes.expert_count);
  // Exact: a rounding error here would pick another expert.
  const Product product{.matrix = &router, .out = logits, .exact = true};
  multiply(net, x, std::span(&product, 1));
  shares.resize(at(x.count) * at(sizes.used_count));
  const auto route_row = [&](int row, int) {
    net.kernels->softmax(logits.row(row), sizes.expert_count);
    const auto chosen =
        std::span(shares).subspan(at(row) * at(sizes.used_count), at(sizes.used_count));
    for (ExpertShare& share : chosen) share.row = row;
    choose_experts(logits.row(row), sizes, chosen);
  };
  net.pool->run(x.count, route_row);
  std::sort(shares.begin(), shares.end(), [](const ExpertShare& a, const ExpertShare& b) {
    return a.expert != b.expert ? a.expert < b.expert : a.row < b.row;
  });
}

// out = sigmoid(shared_gate . x) * shared(x)
void apply_shared(const NetContext& net, Scratch& scratch, const ExpertWeights& weights,
                  const Rows& x, const Rows& out) {
  apply_swiglu(net, scratch, weights.shared, x, out);
  for (int row = 0; row < x.count; ++row) {
    const float logit = net.kernels->dot(weights.shared_gate.data(), x.row(row), x.width);
    const float open = 1.0f / (1.0f + std::exp(-logit));
    std::for_each_n(out.row(row), out.width, [open](float& value) { value *= open; });
  }
}

// out[row] += weight * expert(x[row]) for the rows of one expert.
void apply_expert(const NetContext& net, Scratch& scratch, const SwigluWeights& expert,
                  std::span<const ExpertShare> shares, const Rows& x, const Rows& out) {
  Scratch::Frame frame(scratch);
  const Rows taken = frame.rows(count_of(shares), x.width);
  for (int i = 0; i < taken.count; ++i) {
    std::copy_n(x.row(shares[at(i)].row), x.width, taken.row(i));
  }
  apply_swiglu(net, scratch, expert, taken, taken);
  for (int i = 0; i < taken.count; ++i) {
    const ExpertShare& share = shares[at(i)];
    net.kernels->add_scaled(out.row(share.row), taken.row(i), share.weight, x.width);
  }
}

Status find_routed(WeightSource& source, const std::string& block, int width,
                   const ExpertSizes& sizes, std::vector<SwigluWeights>& experts) {
  const int count = sizes.expert_count;
  const int inner = sizes.inner;
  experts.resize(at(count));
  ADJ_TRY(const std::vector<Matrix> down,
          source.matrices(block + "ffn_down_exps.weight", count, width, inner));
  for (int i = 0; i < count; ++i) experts[at(i)].down = down[at(i)];
  if (source.has(block + "ffn_gate_up_exps.weight")) {
    ADJ_TRY(const std::vector<Matrix> fused,
            source.matrices(block + "ffn_gate_up_exps.weight", count, 2 * inner, width));
    for (int i = 0; i < count; ++i) {
      experts[at(i)].gate = fused[at(i)].part(0, inner);
      experts[at(i)].up = fused[at(i)].part(inner, inner);
    }
    return Done{};
  }
  ADJ_TRY(const std::vector<Matrix> gate,
          source.matrices(block + "ffn_gate_exps.weight", count, inner, width));
  ADJ_TRY(const std::vector<Matrix> up,
          source.matrices(block + "ffn_up_exps.weight", count, inner, width));
  for (int i = 0; i < count; ++i) {
    experts[at(i)].gate = gate[at(i)];
    experts[at(i)].up = up[at(i)];
  }
  return Done{};
}

}  // namespace

Result<ExpertSizes> read_expert_sizes(const ArchitectureKeys& keys) {
  ExpertSizes sizes;
  ADJ_TRY(sizes.expert_count, keys.count("expert_count", kHeadCountMax));
  ADJ_TRY(sizes.used_count, keys.count("expert_used_count", sizes.expert_count));
  ADJ_TRY(sizes.inner, keys.count("expert_feed_forward_length", kWidthMax));
  ADJ_TRY(sizes.shared_inner, keys.count("expert_shared_feed_forward_length", kWidthMax));
  return sizes;
}

Result<ExpertWeights> find_experts(WeightSource& source, const std::string& block, int width,
                                   const ExpertSizes& sizes) {
  ExpertWeights weights;
  ADJ_TRY(weights.router, source.matrix(block + "ffn_gate_inp.weight", sizes.expert_count, width));
  ADJ_TRY_DONE(find_routed(source, block, width, sizes, weights.experts));
  ADJ_TRY(weights.shared, find_swiglu(source, block, "_shexp", width, sizes.shared_inner));
  ADJ_TRY(weights.shared_gate, source.vector(block + "ffn_gate_inp_shexp.weight", width));
  return weights;
}

std::size_t expert_scratch(const ExpertSizes& sizes, int width) {
  // The router's logits are given back before an expert works, and the shared one works alone.
  return std::max({Scratch::stride_of(sizes.expert_count), swiglu_scratch(sizes.shared_inner),
                   Scratch::stride_of(width) + swiglu_scratch(sizes.inner)});
}

void apply_experts(const NetContext& net, Scratch& scratch, const ExpertSizes& sizes,
                   const ExpertWeights& weights, std::vector<ExpertShare>& shares, const Rows& x,
                   const Rows& out) {
  route(net, scratch, sizes, weights.router, x, shares);
  apply_shared(net, scratch, weights, x, out);
  // Experts in ascending order: each one's weights are read once, and a row's sum has one order
  // whatever rows come with it.
  for (auto begin = shares.cbegin(); begin != shares.cend();) {
    const auto end = std::find_if(begin, shares.cend(), [begin](const ExpertShare& share) {
      return share.expert != begin->expert;
    });
    apply_expert(net, scratch, weights.experts[at(begin->expert)], {begin, end}, x, out);
    begin = end;
  }
}

}  // namespace adjudge
