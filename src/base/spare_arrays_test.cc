#include "base/spare_arrays.h"

#include <gtest/gtest.h>

namespace adjudge {
namespace {

TEST(SpareArrays, HandsOutWhatWasLeft) {
  SpareArrays spares;
  Aligned<float> first = spares.take(100), second = spares.take(200);
  const float *small = first.data(), *large = second.data();
  spares.leave(std::move(first));
  spares.leave(std::move(second));
  EXPECT_EQ(spares.take(200).data(), large);
  const Aligned<float> again = spares.take(100);
  EXPECT_EQ(again.data(), small);
  EXPECT_EQ(again.size(), 100u);
}

TEST(SpareArrays, KeepsAFewOnly) {
  SpareArrays spares;
  std::vector<Aligned<float>> taken;
  std::vector<const float*> kept;
  for (std::size_t i = 0; i < SpareArrays::kKeptMax + 1; ++i) taken.push_back(spares.take(8));
  for (Aligned<float>& array : taken) {
    if (kept.size() < SpareArrays::kKeptMax) kept.push_back(array.data());
    spares.leave(std::move(array));
  }
  for (std::size_t i = 0; i < SpareArrays::kKeptMax; ++i) {
    EXPECT_EQ(spares.take(8).data(), kept[i]);
  }
}

}  // namespace
}  // namespace adjudge
