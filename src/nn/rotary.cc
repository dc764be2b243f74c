#include "nn/rotary.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/size.h"

namespace adjudge {

namespace {

// A row is quickly done: so many make a task.
constexpr int kTaskRows = 16;

// body(row) for every row.
template <class Body>
void for_each_row(const NetContext& net, int row_count, const Body& body) {
  const auto some_rows = [&](int index, int) {
    const int end = std::min(row_count, (index + 1) * kTaskRows);
    for (int row = index * kTaskRows; row < end; ++row) body(row);
  };
  net.pool->run((row_count + kTaskRows - 1) / kTaskRows, some_rows);
}

// Which of time, height and width a pair turns by.
int axis_of(const Rotary& rotary, int pair) {
  if (pair % 3 == 1 && pair < 3 * rotary.height_pairs) return 1;
  if (pair % 3 == 2 && pair < 3 * rotary.width_pairs) return 2;
  return 0;
}

}  // namespace

void Rotator::rotate_heads(const NetContext& net, const Rows& x, int head_width,
                           const Rotary& rotary, std::span<const int> positions) {
  const int half = rotary.dimensions / 2;
  CHECK(half > 0 && half <= kRotaryHalfMax && 2 * half <= head_width);
  CHECK(x.width % head_width == 0);
  if (x.count == 0) return;
  const Turns& turns = turns_of(net, rotary, positions, x.count);
  for_each_row(net, x.count, [&](int row) {
    const float* cosines = turns.values.data() + at(row) * at(2 * half);
    for (float* head = x.row(row); head != x.row(row) + x.width; head += head_width) {
      net.kernels->rotate_halves(head, cosines, cosines + half, half);
    }
  });
}

const Rotator::Turns& Rotator::turns_of(const NetContext& net, const Rotary& rotary,
                                        std::span<const int> positions, int row_count) {
  const auto is_asked_for = [&](const Turns& turns) {
    return turns.rotary == rotary && std::ranges::equal(turns.positions, positions);
  };
  if (const auto found = std::ranges::find_if(sets_, is_asked_for); found != sets_.end()) {
    return *found;
  }
  if (count_of(sets_) < kSetCountMax) {
    next_ = count_of(sets_);
    sets_.emplace_back();
  }
  Turns& turns = sets_[at(next_)];
  next_ = (next_ + 1) % kSetCountMax;
  turns.rotary = rotary;
  turns.positions.assign(positions.begin(), positions.end());

  const int half = rotary.dimensions / 2;
  const bool has_axes = count_of(positions) == 3 * row_count;
  CHECK(has_axes || count_of(positions) == row_count);
  turns.values.ensure(at(row_count) * at(2 * half));
  double frequencies[kRotaryHalfMax];
  int axis_begins[kRotaryHalfMax];  // in `positions`
  for (int i = 0; i < half; ++i) {
    axis_begins[i] = has_axes ? axis_of(rotary, i) * row_count : 0;
    frequencies[i] = std::pow(rotary.base, -2.0 * i / rotary.dimensions);
  }
  for_each_row(net, row_count, [&](int row) {
    float* cosines = turns.values.data() + at(row) * at(2 * half);
    for (int i = 0; i < half; ++i) {
      const double angle = positions[at(axis_begins[i] + row)] * frequencies[i];
      cosines[i] = static_cast<float>(std::cos(angle));
      cosines[half + i] = static_cast<float>(std::sin(angle));
    }
  });
  return turns;
}

}  // namespace adjudge
