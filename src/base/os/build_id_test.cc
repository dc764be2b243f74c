#include "base/os/build_id.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

namespace adjudge {
namespace {

TEST(BuildId, IsALineOfHexDigitsThatStaysTheSame) {
  const std::string id = build_id();
  EXPECT_GE(id.size(), 16u);
  EXPECT_TRUE(std::ranges::all_of(id, [](unsigned char c) { return std::isxdigit(c) != 0; }));
  EXPECT_EQ(build_id(), id);
}

}  // namespace
}  // namespace adjudge
