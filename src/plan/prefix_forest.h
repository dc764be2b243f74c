// The prompts of one or several requests as a forest: what several prompts share is evaluated once.
// Pure arithmetic on token ids; knows nothing about models, memory or caches.
#pragma once

#include <span>
#include <vector>

#include "plan/prompt.h"

namespace adjudge {

// Tokens [begin, end) of prompts[prompt], evaluated after the whole of the parent segment.
struct Segment {
  int parent = -1;  // index of a segment before this one; -1: begins a sequence
  int prompt = 0;   // the first prompt that runs through this segment
  int begin = 0;
  int end = 0;              // begin < end
  bool continued = false;   // some segment's parent
  bool border = false;      // ends where a prompt has a border
  bool causal = true;       // false: every row sees all of it, so it cannot be cut
  std::vector<int> wanted;  // positions in [begin, end) that any prompt reads, ascending, each once
};

// Where a prompt's wanted row is found: the row_index-th wanted position of segments[segment].
struct RowPlace {
  int segment = 0;
  int row = 0;
};

struct PrefixForest {
  std::vector<Segment> segments;            // parents before children, a subtree in one stretch
  std::vector<std::vector<RowPlace>> rows;  // per prompt, in the order of its `wanted`
  int evaluated_count = 0;                  // tokens of all segments
  int prompt_token_count = 0;  // tokens of all prompts: what evaluating each alone would take
};

// Segments end where prompts part, at their borders and, per prompt, at the token counts of `cuts`
// (none when empty).
PrefixForest build_prefix_forest(std::span<const Prompt* const> prompts,
                                 std::span<const std::vector<int>> cuts = {});

}  // namespace adjudge
