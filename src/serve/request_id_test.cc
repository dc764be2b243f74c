#include "serve/request_id.h"

#include <gtest/gtest.h>

#include <set>

namespace adjudge::serve {
namespace {

TEST(RequestIds, NoTwoAreTheSameInAProcessOrBetweenTwo) {
  RequestIds one, other;
  std::set<std::string> ids;
  for (int i = 0; i < 100; ++i) {
    ids.insert(one.next());
    ids.insert(other.next());
  }
  EXPECT_EQ(ids.size(), 200u);
  for (const std::string& id : ids) {
    EXPECT_EQ(id.size(), 36u);
    EXPECT_TRUE(id.starts_with("req_"));
    EXPECT_TRUE(is_plain_id(id));
  }
}

TEST(RequestIds, OnlyPlainIdsAreEchoed) {
  EXPECT_TRUE(is_plain_id("a-B_3.x"));
  EXPECT_TRUE(is_plain_id(std::string(128, 'x')));
  for (const std::string& id :
       {std::string(), std::string(129, 'x'), std::string("a b"), std::string("a\r\nX: y"),
        std::string("\xc3\xa9"), std::string("a\0b", 3)}) {
    EXPECT_FALSE(is_plain_id(id));
  }
}

}  // namespace
}  // namespace adjudge::serve
