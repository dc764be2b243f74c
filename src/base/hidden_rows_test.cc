#include "base/hidden_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

namespace adjudge {
namespace {

TEST(HiddenRows, KeepsRowsWhileItGrows) {
  HiddenRows rows(3);
  for (int i = 0; i < 100; ++i) std::ranges::fill(rows.add_row(), static_cast<float>(i));
  ASSERT_EQ(rows.count(), 100);
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(rows.row(i).size(), 3u);
    EXPECT_EQ(rows.row(i).front(), static_cast<float>(i));
    EXPECT_EQ(rows.row(i).back(), static_cast<float>(i));
  }
}

TEST(HiddenRows, WithoutWidthHasNoRows) { EXPECT_EQ(HiddenRows().count(), 0); }

struct Huge {
  std::size_t size() const { return std::size_t{1} << 31; }
};

TEST(CheckDeathTest, AContainerTooLargeForAnIntEndsTheProcess) {
  EXPECT_EQ(count_of(std::string("abc")), 3);
  EXPECT_DEATH(count_of(Huge{}), "size.h:[0-9]+: CHECK failed: size <= ");
}

}  // namespace
}  // namespace adjudge
