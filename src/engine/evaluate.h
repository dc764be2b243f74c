// Runs a forest of prompts through a backbone: each shared token once, as many rows in one pass as
// the backbone takes. Knows neither families nor questions.
#pragma once

#include <functional>
#include <span>
#include <stop_token>
#include <vector>

#include "adjudge/result.h"
#include "backbone/backbone.h"
#include "engine/runtime.h"
#include "plan/prefix_forest.h"

namespace adjudge {

// A stretch of one segment that one pass evaluates: tokens [begin, end) of the segment's prompt.
struct Step {
  int segment = 0;
  int begin = 0;
  int end = 0;
};

// What of a forest has to be evaluated, when memories of some beginnings are kept.
struct Reuse {
  std::vector<std::shared_ptr<const Memory>> kept;  // per segment: the memory at its end, or null
  std::vector<bool> evaluated;                      // per segment
  int evaluated_count = 0;                          // tokens of the segments evaluated

  static Reuse none(const PrefixForest& forest);
};

// The passes over a forest: the tokens of every segment to be evaluated in order, parents before
// children, no pass over rows_max.
std::vector<std::vector<Step>> plan_passes(const PrefixForest& forest, const Reuse& reuse,
                                           int rows_max);

// What the memories of a forest may take together, in bytes.
std::size_t memory_bytes(const BackboneTraits& traits, const PrefixForest& forest,
                         const Reuse& reuse);

// The network, and where what it leaves may be kept.
struct Evaluator {
  const Backbone& backbone;
  Runtime& runtime;
  SnapshotCache::Owner owner;
  // Whether what was computed can be right (the weights may have changed meanwhile); empty: yes.
  // Nothing of a pass is kept unless it is.
  std::function<bool()> sound = {};
};

struct EvaluatedRows {
  std::vector<HiddenRows> rows;       // per prompt, its wanted rows in the order it names them
  std::vector<int> evaluated_counts;  // per prompt: tokens; shared ones count for one of them
};

Result<EvaluatedRows> evaluate(const Evaluator& evaluator, std::span<const Prompt* const> prompts,
                               std::stop_token stop);

}  // namespace adjudge
