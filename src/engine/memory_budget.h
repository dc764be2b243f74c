// One account of bytes for everything a process holds on purpose: decoded vectors, scratch,
// memories, snapshots. Whoever is about to allocate takes a lease first and gives it back by
// letting it go.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <utility>

namespace adjudge {

class MemoryBudget {
 public:
  class Lease {
   public:
    Lease() = default;
    Lease(MemoryBudget* budget, std::size_t bytes) : budget_(budget), bytes_(bytes) {}
    Lease(Lease&& other) noexcept { swap(other); }
    Lease& operator=(Lease&& other) noexcept {
      swap(other);
      return *this;
    }
    ~Lease() {
      if (budget_ == nullptr) return;
      budget_->taken_ -= bytes_;
      if (stays_) budget_->staying_ -= bytes_;
    }
    std::size_t bytes() const { return bytes_; }
    bool stays() const { return stays_; }
    // Its holder never gives way to others.
    void stay() {
      if (budget_ == nullptr || std::exchange(stays_, true)) return;
      budget_->staying_ += bytes_;
    }

   private:
    void swap(Lease& other) {
      std::swap(budget_, other.budget_);
      std::swap(bytes_, other.bytes_);
      std::swap(stays_, other.stays_);
    }
    MemoryBudget* budget_ = nullptr;
    std::size_t bytes_ = 0;
    bool stays_ = false;
  };

  // Zero: no limit.
  explicit MemoryBudget(std::size_t bytes_max = 0) : bytes_max_(bytes_max) {}

  std::size_t bytes_max() const { return bytes_max_; }
  std::size_t bytes_taken() const { return taken_; }
  std::size_t bytes_staying() const { return staying_; }  // of those: no room can be made there
  void set_bytes_max(std::size_t bytes_max) { bytes_max_ = bytes_max; }

  // Nothing when the account would be overdrawn.
  std::optional<Lease> take(std::size_t bytes) {
    std::size_t taken = taken_;
    do {
      const std::size_t limit = bytes_max_;
      if (limit != 0 && (bytes > limit || taken > limit - bytes)) return std::nullopt;
    } while (!taken_.compare_exchange_weak(taken, taken + bytes));
    return Lease(this, bytes);
  }

 private:
  std::atomic<std::size_t> bytes_max_;
  std::atomic<std::size_t> taken_ = 0;
  std::atomic<std::size_t> staying_ = 0;
};

}  // namespace adjudge
