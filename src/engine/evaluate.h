// Runs a forest of prompts through a backbone: each shared token once, as many rows in one pass as
// the backbone takes. Knows neither families nor questions.
#pragma once

#include <span>
#include <stop_token>
#include <vector>

#include "adjudge/result.h"
#include "backbone/backbone.h"
#include "engine/memory_budget.h"
#include "plan/prefix_forest.h"

namespace adjudge {

// A stretch of one segment that one pass evaluates: tokens [begin, end) of the segment's prompt.
struct Step {
  int segment = 0;
  int begin = 0;
  int end = 0;
};

// The passes over a forest: every segment's tokens in order, parents before children, no pass over
// rows_max.
std::vector<std::vector<Step>> plan_passes(const PrefixForest& forest, int rows_max);

// What the memories of a forest may take together, in bytes.
std::size_t memory_bytes(const BackboneTraits& traits, const PrefixForest& forest);

// The wanted rows of every prompt, in the order the prompts name them.
Result<std::vector<HiddenRows>> evaluate(const Backbone& backbone,
                                         std::span<const Prompt* const> prompts,
                                         const PrefixForest& forest, MemoryBudget& budget,
                                         std::stop_token stop);

}  // namespace adjudge
