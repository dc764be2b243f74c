// Arrays that start on a cache line, as vector loads like them, large ones on a large page. Not
// initialised, never grows by itself.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>

#include "base/os/huge_pages.h"

namespace adjudge {

inline constexpr std::size_t kCacheLineBytes = 64;

template <class T>
class Aligned {
 public:
  Aligned() = default;
  explicit Aligned(std::size_t count)
      : data_(static_cast<T*>(::operator new(count * sizeof(T), alignment_of(count))),
              Free{alignment_of(count)}),
        count_(count) {
    if (bytes() >= kLargeBytes) prefer_huge_pages(data_.get(), bytes());
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::size_t size() const { return count_; }
  std::size_t bytes() const { return count_ * sizeof(T); }
  std::span<T> span() { return {data_.get(), count_}; }
  std::span<const T> span() const { return {data_.get(), count_}; }
  T& operator[](std::size_t i) { return data_.get()[i]; }
  const T& operator[](std::size_t i) const { return data_.get()[i]; }

  // Makes room for `count` values; what was there is lost when it has to move.
  void ensure(std::size_t count) {
    if (count > count_) *this = Aligned(count);
  }

 private:
  // From here on the rest of a last page is little.
  static constexpr std::size_t kLargeBytes = 4 * kHugePageBytes;
  static std::align_val_t alignment_of(std::size_t count) {
    return std::align_val_t{count * sizeof(T) >= kLargeBytes ? kHugePageBytes : kCacheLineBytes};
  }
  struct Free {
    std::align_val_t alignment{kCacheLineBytes};
    void operator()(T* data) const { ::operator delete(data, alignment); }
  };
  std::unique_ptr<T, Free> data_;
  std::size_t count_ = 0;
};

}  // namespace adjudge
