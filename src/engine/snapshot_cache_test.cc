#include "engine/snapshot_cache.h"

#include <gtest/gtest.h>

#include "base/size.h"

namespace adjudge {
namespace {

struct StoredBytes final : Memory {
  explicit StoredBytes(std::size_t count) : byte_count(count) {}
  int length() const override { return 0; }
  std::size_t bytes() const override { return byte_count; }
  std::vector<std::span<const std::byte>> contents() const override { return {}; }
  bool fill(std::span<const std::byte>) override { return false; }
  std::size_t byte_count;
};

Prompt prompt_of(Tokens tokens) { return {.tokens = std::move(tokens), .wanted = {0}}; }

class SnapshotCacheTest : public testing::Test {
 protected:
  static constexpr std::size_t kLarge = 10'000;  // beside which an entry's own bytes are small

  std::shared_ptr<const Memory> keep(const Prompt& prompt, int length, int parent_length = 0,
                                     const Memory* parent = nullptr) {
    auto memory = std::make_shared<StoredBytes>(kLarge);
    cache_.keep(owner_, {prompt, length}, memory, parent_length, parent);
    return memory;
  }

  std::shared_ptr<const Memory> find(const Prompt& prompt, int length) {
    return cache_.find(owner_, {prompt, length});
  }

  MemoryBudget budget_;
  SnapshotCache cache_{budget_, 3 * kLarge + 2'000};
  const SnapshotCache::Owner owner_ = cache_.new_owner();
};

TEST_F(SnapshotCacheTest, FindsExactlyWhatWasKept) {
  const Prompt prompt = prompt_of({1, 2, 3, 4});
  const auto memory = keep(prompt, 3);
  EXPECT_EQ(find(prompt, 3), memory);
  EXPECT_EQ(find(prompt_of({1, 2, 3, 9, 9}), 3), memory);
  EXPECT_EQ(find(prompt, 2), nullptr);
  EXPECT_EQ(find(prompt_of({1, 2, 4, 4}), 3), nullptr);
  EXPECT_EQ(cache_.find(cache_.new_owner(), {prompt, 3}), nullptr);
  Prompt typed = prompt;
  typed.token_types = {0, 0, 0, 0};
  EXPECT_EQ(find(typed, 3), nullptr);
  EXPECT_EQ(cache_.kept_lengths(owner_, prompt, 4), std::vector<int>{3});
  EXPECT_EQ(cache_.kept_lengths(owner_, prompt, 3), std::vector<int>{});
}

TEST_F(SnapshotCacheTest, TheLeastRecentlyUsedGoesFirst) {
  const Prompt a = prompt_of({1, 1}), b = prompt_of({2, 2}), c = prompt_of({3, 3}),
               d = prompt_of({4, 4});
  for (const Prompt* prompt : {&a, &b, &c}) keep(*prompt, 1);
  EXPECT_NE(find(a, 1), nullptr);
  keep(d, 1);
  EXPECT_EQ(find(b, 1), nullptr);
  for (const Prompt* prompt : {&a, &c, &d}) EXPECT_NE(find(*prompt, 1), nullptr);
  EXPECT_EQ(cache_.counts().evictions, 1u);
  EXPECT_LE(cache_.counts().bytes, cache_.counts().bytes_max);
}

TEST_F(SnapshotCacheTest, WhatIsContinuedOutlivesWhatContinuesIt) {
  const Prompt prompt = prompt_of({1, 2, 3});
  const auto parent = keep(prompt, 1);
  const auto child = keep(prompt, 2, 1, parent.get());
  EXPECT_EQ(find(prompt, 2), child);
  for (const Token token : {7, 8}) keep(prompt_of({token, token}), 1);
  EXPECT_EQ(find(prompt, 2), nullptr);
  EXPECT_EQ(find(prompt, 1), parent);
}

TEST_F(SnapshotCacheTest, AMemoryWhoseParentIsNotKeptIsNotKept) {
  const Prompt prompt = prompt_of({1, 2, 3});
  const StoredBytes stranger(1);
  keep(prompt, 1);
  keep(prompt, 2, 1, &stranger);
  EXPECT_EQ(find(prompt, 2), nullptr);
}

TEST_F(SnapshotCacheTest, AForgottenOwnerLeavesNothing) {
  const Prompt prompt = prompt_of({1, 2, 3});
  const auto parent = keep(prompt, 1);
  keep(prompt, 2, 1, parent.get());
  find(prompt, 2);
  find(prompt, 1);
  cache_.forget(owner_);
  EXPECT_EQ(cache_.counts().count, 0u);
  EXPECT_EQ(cache_.counts().bytes, 0u);
  EXPECT_EQ(budget_.bytes_taken(), 0u);
}

TEST_F(SnapshotCacheTest, NoneTakesMoreThanHalfOfTheCacheFromTheOthers) {
  for (const Token token : {1, 2, 3}) keep(prompt_of({token, token}), 1);
  const std::size_t half = cache_.counts().bytes_max / 2;
  const Prompt prompt = prompt_of({4, 4});
  EXPECT_FALSE(cache_.keep(owner_, {prompt, 1}, std::make_shared<StoredBytes>(half), 0, nullptr));
  EXPECT_EQ(cache_.counts().count, 3u);
  EXPECT_EQ(cache_.counts().evictions, 0u);
  constexpr std::size_t kEntryItself = 1'000;  // more than an entry takes beside its memory
  EXPECT_TRUE(cache_.keep(owner_, {prompt, 1}, std::make_shared<StoredBytes>(half - kEntryItself),
                          0, nullptr));
  EXPECT_GT(cache_.counts().evictions, 0u);
}

TEST_F(SnapshotCacheTest, StaysWithinTheBudgetOfTheProcess) {
  budget_.set_bytes_max(2 * kLarge + 1'000);
  for (const Token token : {1, 2, 3}) keep(prompt_of({token, token}), 1);
  EXPECT_EQ(cache_.counts().count, 2u);
  EXPECT_LE(budget_.bytes_taken(), budget_.bytes_max());
}

TEST_F(SnapshotCacheTest, ASmallerLimitTakesEffectAtOnce) {
  for (const Token token : {1, 2, 3}) keep(prompt_of({token, token}), 1);
  cache_.set_bytes_max(0);
  EXPECT_EQ(cache_.counts().count, 0u);
  keep(prompt_of({1, 1}), 1);
  EXPECT_EQ(cache_.counts().count, 0u);
}

}  // namespace
}  // namespace adjudge
