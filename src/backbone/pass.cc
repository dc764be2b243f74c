#include "backbone/pass.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>

#include "base/check.h"
#include "base/size.h"
#include "base/try.h"

namespace adjudge {

namespace {

int row_count_of(const Input& input, int width) {
  return input.tokens.empty() ? count_of(input.embeddings) / width : count_of(input.tokens);
}

Error refused(std::string message) { return {ErrorKind::not_supported, std::move(message)}; }

}  // namespace

Status Pass::check(const Work& work, const PassLimits& limits) const {
  const Input& input = work.input;
  if (!input.causal) return refused("this network sees no later tokens: causal must be true");
  if (!input.token_types.empty()) return refused("this network has no token types");
  const int count = row_count_of(input, limits.width);
  CHECK(work.memory != nullptr && count > 0);
  CHECK(input.tokens.empty() || input.embeddings.empty());
  CHECK(input.tokens.size() * at(limits.width) + input.embeddings.size() ==
        at(count) * at(limits.width));
  CHECK(count <= static_cast<const SequenceMemory*>(work.memory)->room());
  const auto descent =
      std::adjacent_find(work.wanted.begin(), work.wanted.end(), std::greater_equal<>());
  CHECK(descent == work.wanted.end());
  CHECK(work.wanted.empty() || (work.rows != nullptr && work.rows->width() == limits.width &&
                                work.wanted.front() >= 0 && work.wanted.back() < count));
  for (const Token token : input.tokens) {
    if (token < 0 || token >= limits.vocabulary_count) {
      return Error{ErrorKind::bad_request, "token " + std::to_string(token) +
                                               " of a vocabulary of " +
                                               std::to_string(limits.vocabulary_count)};
    }
  }
  const int position_count = count_of(input.positions);
  if (position_count == 3 * count && limits.position_axes != 3) {
    return refused("this network knows one position per token, not three");
  }
  CHECK(position_count == 0 || position_count == count || position_count == 3 * count);
  return Done{};
}

void Pass::place(const Work& work, int count) {
  auto* memory = static_cast<SequenceMemory*>(work.memory);
  Segment segment;
  segment.memory = memory;
  segment.before = memory->recurrence_before();
  segment.begin = row_count_;
  segment.count = count;
  segment.own_begin = memory->own_count();
  segment.position_begin = memory->length();
  segment.wanted = work.wanted;
  segment.rows = work.rows;
  // Lengths are settled work by work, so a child placed later already sees all of its parent.
  memory->take(count);
  row_count_ += count;
  segments_.push_back(segment);
}

void Pass::set_positions(std::span<const Work> works, int axes) {
  positions_.resize(at(axes) * at(row_count_));
  for (std::size_t i = 0; i < works.size(); ++i) {
    const Segment& segment = segments_[i];
    const std::span<const int> given = works[i].input.positions;
    for (int axis = 0; axis < axes; ++axis) {
      int* out = positions_.data() + at(axis) * at(row_count_) + at(segment.begin);
      if (given.empty()) {
        std::iota(out, out + segment.count, segment.position_begin);
      } else {  // one axis stands for all three: in text time, height and width run together
        const int from = count_of(given) == 3 * segment.count ? axis * segment.count : 0;
        std::copy_n(given.begin() + from, segment.count, out);
      }
    }
  }
}

Status Pass::begin(std::span<const Work> works, const PassLimits& limits) {
  segments_.clear();
  row_count_ = 0;
  axis_count_ = 1;
  int row_total = 0;
  for (const Work& work : works) {
    ADJ_TRY_DONE(check(work, limits));
    const int count = row_count_of(work.input, limits.width);
    row_total += count;
    if (count_of(work.input.positions) == 3 * count) axis_count_ = 3;
  }
  CHECK(row_total <= limits.rows_max);
  for (const Work& work : works) place(work, row_count_of(work.input, limits.width));
  set_positions(works, axis_count_);
  read_all();
  return Done{};
}

void Pass::set_reader_positions() {
  reader_positions_.clear();
  for (int axis = 0; axis < axis_count_; ++axis) {
    for (const int row : readers_) {
      reader_positions_.push_back(positions_[at(axis) * at(row_count_) + at(row)]);
    }
  }
}

void Pass::read_all() {
  readers_.resize(at(row_count_));
  std::iota(readers_.begin(), readers_.end(), 0);
  reader_runs_.clear();
  for (int i = 0; i < count_of(segments_); ++i) {
    reader_runs_.push_back({i, 0, segments_[at(i)].begin, segments_[at(i)].count});
  }
  set_reader_positions();
}

void Pass::read_wanted() {
  readers_.clear();
  reader_runs_.clear();
  for (int i = 0; i < count_of(segments_); ++i) {
    for (const int offset : segments_[at(i)].wanted) {
      const ReaderRun* last = reader_runs_.empty() ? nullptr : &reader_runs_.back();
      if (last != nullptr && last->segment == i && last->offset + last->count == offset) {
        ++reader_runs_.back().count;
      } else {
        reader_runs_.push_back({i, offset, reader_count(), 1});
      }
      readers_.push_back(segments_[at(i)].begin + offset);
    }
  }
  set_reader_positions();
}

void Pass::enter_last_layer(Rows& x) {
  int kept = 0;
  std::vector<int>& row_of = readers_;  // the old place of every row that stays
  row_of.clear();
  for (Segment& segment : segments_) {
    const int read = segment.wanted.empty() ? 0 : segment.wanted.back() + 1;
    const int begin = segment.begin;
    segment.begin = kept;
    if (!segment.memory->awaits_more()) segment.count = read;
    for (int i = 0; i < segment.count; ++i) row_of.push_back(begin + i);
    kept += segment.count;
  }
  x = readers_of(x);
  set_reader_positions();
  positions_.swap(reader_positions_);
  row_count_ = kept;
  std::erase_if(segments_, [](const Segment& segment) { return segment.count == 0; });
  read_wanted();
}

Rows Pass::readers_of(const Rows& x) const {
  for (int i = 0; i < reader_count(); ++i) {
    const int row = readers_[at(i)];
    if (row != i) std::copy_n(x.row(row), x.width, x.row(i));
  }
  return {x.data, reader_count(), x.width, x.stride};
}

}  // namespace adjudge
