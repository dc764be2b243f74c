// Arrays that start on a cache line, as vector loads like them. Not initialised, never grows by
// itself.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>

namespace adjudge {

inline constexpr std::size_t kCacheLineBytes = 64;

template <class T>
class Aligned {
 public:
  Aligned() = default;
  explicit Aligned(std::size_t count)
      : data_(
            static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t{kCacheLineBytes}))),
        count_(count) {}

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
  struct Free {
    void operator()(T* data) const { ::operator delete(data, std::align_val_t{kCacheLineBytes}); }
  };
  std::unique_ptr<T, Free> data_;
  std::size_t count_ = 0;
};

}  // namespace adjudge
