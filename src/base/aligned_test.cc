#include "base/aligned.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

namespace adjudge {
namespace {

TEST(Aligned, StartsOnACacheLine) {
  for (std::size_t count = 1; count < 50; ++count) {
    const Aligned<float> values(count);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(values.data()) % kCacheLineBytes, 0u);
    EXPECT_EQ(values.size(), count);
    EXPECT_EQ(values.bytes(), count * sizeof(float));
    EXPECT_EQ(values.span().size(), count);
  }
}

TEST(Aligned, StartsOnALargePageWhenItIsLarge) {
  Aligned<std::byte> values(5 * kHugePageBytes);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(values.data()) % kHugePageBytes, 0u);
  values = Aligned<std::byte>(3);  // what is freed was asked for with another alignment
  EXPECT_EQ(values.size(), 3u);
  values.ensure(6 * kHugePageBytes);
  values[6 * kHugePageBytes - 1] = std::byte{1};
}

TEST(Aligned, GrowsOnlyWhenAskedForMore) {
  Aligned<int> values(4);
  values[3] = 7;
  const int* data = values.data();
  values.ensure(4);
  values.ensure(2);
  EXPECT_EQ(values.data(), data);
  EXPECT_EQ(values[3], 7);
  values.ensure(1000);
  EXPECT_EQ(values.size(), 1000u);
}

TEST(Aligned, MovesWithoutCopying) {
  Aligned<int> values(4);
  const int* data = values.data();
  const Aligned<int> moved = std::move(values);
  EXPECT_EQ(moved.data(), data);
}

}  // namespace
}  // namespace adjudge
