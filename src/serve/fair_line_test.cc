#include "serve/fair_line.h"

#include <gtest/gtest.h>

namespace adjudge::serve {
namespace {

std::string take_all_in_turn(FairLine<std::string>& line) {
  std::string taken;
  while (const auto entry = line.take([](const std::string&) { return true; })) taken += *entry;
  return taken;
}

TEST(FairLine, ClientsTakeTurnsAndEachKeepsItsOrder) {
  FairLine<std::string> line;
  for (const char* entry : {"1", "2", "3", "4"}) line.push("flood", entry);
  line.push("a", "a");
  line.push("b", "b");
  EXPECT_EQ(line.size(), 6);
  EXPECT_EQ(take_all_in_turn(line), "1ab234");
  EXPECT_TRUE(line.empty());
}

TEST(FairLine, WhoAsksOneThingAtATimeIsNotBehindAFloodEachTime) {
  FairLine<std::string> line;
  const auto any = [](const std::string&) { return true; };
  for (const char* entry : {"1", "2", "3", "4"}) line.push("flood", entry);
  EXPECT_EQ(line.take(any), "1");
  line.push("one", "a");
  EXPECT_EQ(line.take(any), "a");
  EXPECT_EQ(line.take(any), "2");
  line.push("one", "b");
  line.push("another", "c");
  EXPECT_EQ(take_all_in_turn(line), "cb34");
}

TEST(FairLine, WhoWasPassedOverIsFirstTheNextTime) {
  FairLine<std::string> line;
  line.push("large", "LARGE");
  line.push("small", "s");
  line.push("small", "t");
  const auto small = [](const std::string& entry) { return entry.size() == 1; };
  EXPECT_EQ(line.take(small), "s");
  EXPECT_EQ(take_all_in_turn(line), "LARGEt");
}

TEST(FairLine, WhatIsTakenOutLeavesTheRestInOrder) {
  FairLine<std::string> line;
  for (const char* entry : {"1", "x", "2"}) line.push("a", entry);
  line.push("b", "x");
  const auto gone = line.take_all([](const std::string& entry) { return entry == "x"; });
  EXPECT_EQ(gone.size(), 2u);
  EXPECT_FALSE(line.holds("b"));
  EXPECT_EQ(line.size(), 2);
  EXPECT_EQ(take_all_in_turn(line), "12");
}

}  // namespace
}  // namespace adjudge::serve
