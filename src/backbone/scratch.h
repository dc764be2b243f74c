// The working memory of a pass: one allocation, cut into rows like a stack. Layers give back what
// they took when their frame ends, so that the next layer reuses the same cache lines.
#pragma once

#include <initializer_list>

#include "base/aligned.h"
#include "base/check.h"
#include "base/size.h"
#include "nn/matmul.h"

namespace adjudge {

class Scratch {
 public:
  // Rows start on cache lines: the floats that one row of `width` occupies.
  static std::size_t stride_of(int width) {
    constexpr std::size_t kLineFloats = kCacheLineBytes / sizeof(float);
    return (at(width) + kLineFloats - 1) / kLineFloats * kLineFloats;
  }
  // ... and one row of each of several widths together.
  static std::size_t stride_of(std::initializer_list<int> widths) {
    std::size_t sum = 0;
    for (const int width : widths) sum += stride_of(width);
    return sum;
  }

  // Before a pass: nothing is taken, whatever pass of another thread a fork has copied. Allocates
  // at the first call; later calls of the same size do not.
  void ensure(std::size_t float_count) {
    floats_.ensure(float_count);
    top_ = 0;
  }
  const float* data() const { return floats_.data(); }
  std::size_t size() const { return floats_.size(); }

  // What is taken while a frame lives is given back when it ends.
  class Frame {
   public:
    explicit Frame(Scratch& scratch) : scratch_(scratch), top_(scratch.top_) {}
    ~Frame() { scratch_.top_ = top_; }
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;

    Rows rows(int count, int width) {
      const std::size_t stride = stride_of(width);
      const std::size_t begin = scratch_.top_;
      scratch_.top_ += at(count) * stride;
      CHECK(scratch_.top_ <= scratch_.floats_.size());
      return {scratch_.floats_.data() + begin, count, width, stride};
    }

   private:
    Scratch& scratch_;
    const std::size_t top_;
  };

 private:
  Aligned<float> floats_;
  std::size_t top_ = 0;
};

// Columns [begin, begin + width) of every row.
inline Rows columns_of(const Rows& rows, int begin, int width) {
  return {rows.data + begin, rows.count, width, rows.stride};
}

// Rows [begin, begin + count).
inline Rows slice_of(const Rows& rows, int begin, int count) {
  return {rows.row(begin), count, rows.width, rows.stride};
}

}  // namespace adjudge
