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
             const PrefixForest& forest, const Reuse& reuse)
      : backbone_(backbone),
        prompts_(prompts),
        forest_(forest),
        reuse_(reuse),
        memories_(forest.segments.size()),
        rows_(forest.segments.size(), HiddenRows(backbone.traits().width)),
        last_child_(forest.segments.size()),
        worth_keeping_(forest.segments.size()) {
    for (int i = 0; i < count_of(forest.segments); ++i) {
      last_child_[at(i)] = i;
      if (const int parent = segment(i).parent; parent >= 0) last_child_[at(parent)] = i;
    }
    for (int i = count_of(forest.segments) - 1; i >= 0; --i) {
      if (segment(i).border) worth_keeping_[at(i)] = true;
      const int parent = segment(i).parent;  // is continued by what is kept, so it lives on as well
      if (worth_keeping_[at(i)] && parent >= 0) worth_keeping_[at(parent)] = true;
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

  // Hands what is worth keeping to the cache; parents come first.
  void keep(SnapshotCache& snapshots, SnapshotCache::Owner owner) {
    for (int i = 0; i < count_of(forest_.segments); ++i) {
      const Segment& s = segment(i);
      if (!keeps(i)) continue;
      snapshots.count_miss();
      snapshots.keep(owner, {*prompts_[at(s.prompt)], s.end}, memories_[at(i)], s.begin,
                     memory_at_end(s.parent).get());
    }
  }

 private:
  const Segment& segment(int index) const { return forest_.segments[at(index)]; }

  bool keeps(int index) const {
    return worth_keeping_[at(index)] && reuse_.evaluated[at(index)] && !reuse_.kept[at(index)];
  }

  std::shared_ptr<const Memory> memory_at_end(int index) const {
    if (index < 0) return nullptr;
    return reuse_.kept[at(index)] ? reuse_.kept[at(index)] : memories_[at(index)];
  }

  Work work_of(const Step& step, std::vector<int>& wanted) {
    const Segment& s = segment(step.segment);
    const Prompt& prompt = *prompts_[at(s.prompt)];
    if (step.begin == s.begin) {
      memories_[at(step.segment)] =
          backbone_.begin({memory_at_end(s.parent), s.end - s.begin, s.continued});
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
      if (last_child_[at(i)] <= current && !keeps(i)) memories_[at(i)].reset();
    }
  }

  const Backbone& backbone_;
  std::span<const Prompt* const> prompts_;
  const PrefixForest& forest_;
  const Reuse& reuse_;
  std::vector<std::shared_ptr<Memory>> memories_;  // per segment, while somebody may continue it
  std::vector<HiddenRows> rows_;                   // per segment
  std::vector<int> last_child_;      // per segment, its last child (itself when it has none)
  std::vector<bool> worth_keeping_;  // per segment
};

// The prompts' forest, cut where memories are kept as well.
PrefixForest build_forest(const Evaluator& evaluator, std::span<const Prompt* const> prompts) {
  const SnapshotCache& snapshots = evaluator.runtime.snapshots();
  std::vector<std::vector<int>> cuts;
  for (const Prompt* prompt : prompts) {
    cuts.push_back(snapshots.kept_lengths(evaluator.owner, *prompt, prompt->wanted.back() + 1));
  }
  return build_prefix_forest(prompts, cuts);
}

// Goes up from the leaves: a memory that is kept makes all segments above it needless, unless
// another branch or a reader needs them. What is above is looked up last, so that it is used as
// recently as what continues it.
Reuse find_kept(const Evaluator& evaluator, std::span<const Prompt* const> prompts,
                const PrefixForest& forest) {
  Reuse reuse = Reuse::none(forest);
  std::vector<bool> child_continues(forest.segments.size());
  reuse.evaluated_count = 0;
  for (int i = count_of(forest.segments) - 1; i >= 0; --i) {
    const Segment& segment = forest.segments[at(i)];
    if (segment.continued) {
      reuse.kept[at(i)] = evaluator.runtime.snapshots().find(
          evaluator.owner, {*prompts[at(segment.prompt)], segment.end});
      if (reuse.kept[at(i)]) evaluator.runtime.snapshots().count_hit();
    }
    const bool wanted_by_child = child_continues[at(i)] && !reuse.kept[at(i)];
    reuse.evaluated[at(i)] = !segment.wanted.empty() || wanted_by_child;
    if (!reuse.evaluated[at(i)]) continue;
    reuse.evaluated_count += segment.end - segment.begin;
    if (segment.parent >= 0) child_continues[at(segment.parent)] = true;
  }
  return reuse;
}

std::vector<int> counts_per_prompt(const PrefixForest& forest, const Reuse& reuse) {
  std::vector<int> counts(forest.rows.size());
  for (int i = 0; i < count_of(forest.segments); ++i) {
    const Segment& segment = forest.segments[at(i)];
    if (reuse.evaluated[at(i)]) counts[at(segment.prompt)] += segment.end - segment.begin;
  }
  return counts;
}

}  // namespace

Reuse Reuse::none(const PrefixForest& forest) {
  const std::size_t count = forest.segments.size();
  return {std::vector<std::shared_ptr<const Memory>>(count), std::vector<bool>(count, true),
          forest.evaluated_count};
}

std::vector<std::vector<Step>> plan_passes(const PrefixForest& forest, const Reuse& reuse,
                                           int rows_max) {
  std::vector<std::vector<Step>> passes;
  int room = 0;
  for (int i = 0; i < count_of(forest.segments); ++i) {
    if (!reuse.evaluated[at(i)]) continue;
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

std::size_t memory_bytes(const BackboneTraits& traits, const PrefixForest& forest,
                         const Reuse& reuse) {
  // A leaf's fixed part lives only while it is cut over passes, and one leaf at a time is.
  std::size_t fixed_count = 1;
  for (int i = 0; i < count_of(forest.segments); ++i) {
    fixed_count += forest.segments[at(i)].continued && reuse.evaluated[at(i)] ? 1 : 0;
  }
  return fixed_count * traits.memory_bytes_fixed +
         at(reuse.evaluated_count) * traits.memory_bytes_per_token;
}

Result<EvaluatedRows> evaluate(const Evaluator& evaluator, std::span<const Prompt* const> prompts,
                               std::stop_token stop) {
  const Backbone& backbone = evaluator.backbone;
  const PrefixForest forest = build_forest(evaluator, prompts);
  const Reuse reuse = find_kept(evaluator, prompts, forest);
  ADJ_TRY(MemoryBudget::Lease lease,
          evaluator.runtime.take_memory(memory_bytes(backbone.traits(), forest, reuse),
                                        "the memories of this pass"));
  Evaluation evaluation(backbone, prompts, forest, reuse);
  for (const std::vector<Step>& pass : plan_passes(forest, reuse, backbone.rows_max())) {
    ADJ_TRY_DONE(evaluation.run_pass(pass, stop));
  }
  lease = {};  // what is kept is counted there
  if (!evaluator.sound || evaluator.sound())
    evaluation.keep(evaluator.runtime.snapshots(), evaluator.owner);
  return EvaluatedRows{evaluation.gather_rows(), counts_per_prompt(forest, reuse)};
}

}  // namespace adjudge
