#include "engine/evaluate.h"

#include <algorithm>
#include <memory>

#include "base/size.h"
#include "base/try.h"

namespace adjudge {

namespace {

class Evaluation {
 public:
  Evaluation(const Backbone& backbone, std::span<const Prompt* const> prompts,
             const PrefixForest& forest)
      : backbone_(backbone),
        prompts_(prompts),
        forest_(forest),
        memories_(forest.segments.size()),
        rows_(forest.segments.size(), HiddenRows(backbone.traits().width)),
        last_child_(forest.segments.size()) {
    for (int i = 0; i < count_of(forest.segments); ++i) {
      last_child_[at(i)] = i;
      if (const int parent = segment(i).parent; parent >= 0) last_child_[at(parent)] = i;
    }
  }

  Status run_pass(std::span<const Step> steps, std::stop_token stop) {
    std::vector<std::vector<int>> wanted(steps.size());
    std::vector<Work> works;
    for (int i = 0; i < count_of(steps); ++i) works.push_back(work_of(steps[at(i)], wanted[at(i)]));
    ADJ_TRY_DONE(backbone_.extend(works, stop));
    forget_before(steps.back());
    return Done{};
  }

  std::vector<HiddenRows> gather_rows() const {
    std::vector<HiddenRows> result;
    for (const std::vector<RowPlace>& places : forest_.rows) {
      HiddenRows& rows = result.emplace_back(backbone_.traits().width);
      for (const RowPlace& place : places) {
        std::ranges::copy(rows_[at(place.segment)].row(place.row), rows.add_row().begin());
      }
    }
    return result;
  }

 private:
  const Segment& segment(int index) const { return forest_.segments[at(index)]; }

  Work work_of(const Step& step, std::vector<int>& wanted) {
    const Segment& s = segment(step.segment);
    const Prompt& prompt = *prompts_[at(s.prompt)];
    if (step.begin == s.begin) {
      const auto parent = s.parent < 0 ? nullptr : memories_[at(s.parent)];
      memories_[at(step.segment)] = backbone_.begin({parent, s.end - s.begin, s.continued});
    }
    for (const int position : s.wanted) {
      if (position >= step.begin && position < step.end) wanted.push_back(position - step.begin);
    }
    const std::size_t count = at(step.end - step.begin);
    Work work;
    work.memory = memories_[at(step.segment)].get();
    work.input.tokens = {prompt.tokens.data() + step.begin, count};
    if (!prompt.token_types.empty())
      work.input.token_types = {prompt.token_types.data() + step.begin, count};
    work.input.causal = prompt.causal;
    work.wanted = wanted;
    work.rows = &rows_[at(step.segment)];
    return work;
  }

  // Lets go of every memory that nothing continues any more: all segments up to `step` have been
  // evaluated.
  void forget_before(const Step& step) {
    const bool finished = step.end == segment(step.segment).end;
    const int current = finished ? step.segment : step.segment - 1;
    for (int i = 0; i <= current; ++i) {
      if (last_child_[at(i)] <= current) memories_[at(i)].reset();
    }
  }

  const Backbone& backbone_;
  std::span<const Prompt* const> prompts_;
  const PrefixForest& forest_;
  std::vector<std::shared_ptr<Memory>> memories_;  // per segment, while somebody may continue it
  std::vector<HiddenRows> rows_;                   // per segment
  std::vector<int> last_child_;  // per segment, its last child (itself when it has none)
};

}  // namespace

std::vector<std::vector<Step>> plan_passes(const PrefixForest& forest, int rows_max) {
  std::vector<std::vector<Step>> passes;
  int room = 0;
  for (int i = 0; i < count_of(forest.segments); ++i) {
    const Segment& segment = forest.segments[at(i)];
    for (int begin = segment.begin; begin < segment.end;) {
      const int left = segment.end - begin;
      if (room == 0 || (!segment.causal && left > room)) {
        passes.emplace_back();
        room = rows_max;
      }
      const int end = segment.causal ? begin + std::min(left, room) : segment.end;
      passes.back().push_back({i, begin, end});
      room = std::max(0, room - (end - begin));
      begin = end;
    }
  }
  return passes;
}

std::size_t memory_bytes(const BackboneTraits& traits, const PrefixForest& forest) {
  // A leaf's fixed part lives only while it is cut over passes, and one leaf at a time is.
  std::size_t fixed_count = 1;
  for (const Segment& segment : forest.segments) fixed_count += segment.continued ? 1 : 0;
  return fixed_count * traits.memory_bytes_fixed +
         at(forest.evaluated_count) * traits.memory_bytes_per_token;
}

Result<std::vector<HiddenRows>> evaluate(const Backbone& backbone,
                                         std::span<const Prompt* const> prompts,
                                         const PrefixForest& forest, MemoryBudget& budget,
                                         std::stop_token stop) {
  const std::size_t bytes = memory_bytes(backbone.traits(), forest);
  const auto lease = budget.take(bytes);
  if (!lease) {
    return Error{ErrorKind::unavailable, "memory budget: " + std::to_string(bytes) +
                                             " bytes wanted, " +
                                             std::to_string(budget.bytes_taken()) + " of " +
                                             std::to_string(budget.bytes_max()) + " in use"};
  }
  Evaluation evaluation(backbone, prompts, forest);
  for (const std::vector<Step>& pass : plan_passes(forest, backbone.rows_max())) {
    ADJ_TRY_DONE(evaluation.run_pass(pass, stop));
  }
  return evaluation.gather_rows();
}

}  // namespace adjudge
