// A feed-forward part made of experts: a router sends every row to a few of them, and one expert
// that all rows share answers besides. Reference: qwen35moe.cpp and llama-graph.cpp of llama.cpp.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "backbone/keys.h"
#include "backbone/scratch.h"
#include "backbone/swiglu_mlp.h"

namespace adjudge {

struct ExpertSizes {
  int expert_count = 0;
  int used_count = 0;  // experts of one row
  int inner = 0;       // width inside an expert
  int shared_inner = 0;
};

Result<ExpertSizes> read_expert_sizes(const ArchitectureKeys& keys);

struct ExpertWeights {
  Matrix router;                       // (expert_count, width)
  std::vector<SwigluWeights> experts;  // (expert_count)
  SwigluWeights shared;
  std::span<const float> shared_gate;  // (width)
};

Result<ExpertWeights> find_experts(WeightSource& source, const std::string& block, int width,
                                   const ExpertSizes& sizes);

// What one row wants of one expert.
struct ExpertShare {
  int expert = 0;
  int row = 0;
  float weight = 0;
};

// Scratch floats per row.
std::size_t expert_scratch(const ExpertSizes& sizes, int width);

// x, out: (rows, width). `shares` is room that is kept between calls.
void apply_experts(const NetContext& net, Scratch& scratch, const ExpertSizes& sizes,
                   const ExpertWeights& weights, std::vector<ExpertShare>& shares, const Rows& x,
                   const Rows& out);

}  // namespace adjudge
