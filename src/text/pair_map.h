// From two ints to two ints, for the merges of a vocabulary: filled once, then asked for every pair
// of neighbours of every word. Open addressing, because the general map costs a cache miss more.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/size.h"

namespace adjudge::text {

struct Merge {
  std::int32_t rank = 0;
  std::int32_t symbol = 0;  // that the two become
};

class PairMap {
 public:
  explicit PairMap(std::size_t count_max)
      : slots_(std::bit_ceil(2 * count_max + 1)), mask_(slots_.size() - 1) {}

  // Keeps what was there.
  void add(std::int32_t left, std::int32_t right, Merge merge) {
    Slot& slot = slots_[slot_of(left, right)];
    if (slot.left == kFree) slot = {left, right, merge};
  }

  const Merge* find(std::int32_t left, std::int32_t right) const {
    const Slot& slot = slots_[slot_of(left, right)];
    return slot.left == kFree ? nullptr : &slot.merge;
  }

 private:
  static constexpr std::int32_t kFree = -1;

  struct Slot {
    std::int32_t left = kFree;
    std::int32_t right = kFree;
    Merge merge;
  };

  // Where the pair is, or the free slot where it would be. At most half of the slots are taken.
  std::size_t slot_of(std::int32_t left, std::int32_t right) const {
    const std::uint64_t key = static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 |
                              static_cast<std::uint32_t>(right);
    // Fibonacci hashing: the high bits of the product depend on all bits of the key.
    std::size_t slot = (key * 0x9E3779B97F4A7C15u) >> 32 & mask_;
    while (slots_[slot].left != kFree &&
           (slots_[slot].left != left || slots_[slot].right != right)) {
      slot = (slot + 1) & mask_;
    }
    return slot;
  }

  std::vector<Slot> slots_;
  std::size_t mask_;
};

}  // namespace adjudge::text
