#include "engine/runtime.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <new>
#include <thread>
#include <vector>

namespace adjudge {
namespace {

TEST(Runtime, JobsOfManyCallersRunOneAtATime) {
  Runtime runtime({.thread_count = 2});
  int counter = 0;  // unguarded on purpose: the thread sanitizer watches
  std::vector<std::jthread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      auto job = [&] { ++counter; };
      for (int k = 0; k < 100; ++k) runtime.run(job);
    });
  }
  callers.clear();
  EXPECT_EQ(counter, 400);
}

TEST(Runtime, WhoComesFirstIsServedFirst) {
  Runtime runtime;
  std::vector<int> served;
  std::vector<std::jthread> callers;
  auto first = [&] {
    for (int i = 0; i < 8; ++i) {
      callers.emplace_back([&, i] {
        auto job = [&, i] { served.push_back(i); };
        runtime.run(job);
      });
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // it waits by then
    }
  };
  runtime.run(first);
  callers.clear();
  EXPECT_EQ(served, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(Runtime, AJobThatThrowsPassesItsTurnOn) {
  Runtime runtime;
  auto throws = [] { throw std::bad_alloc(); };
  EXPECT_THROW(runtime.run(throws), std::bad_alloc);
  bool ran = false;
  auto job = [&] { ran = true; };
  runtime.run(job);
  EXPECT_TRUE(ran);
}

TEST(Runtime, AJobMayRunAnotherJob) {
  Runtime runtime;
  bool inner_ran = false;
  auto inner = [&] { inner_ran = true; };
  auto outer = [&] { runtime.run(inner); };
  runtime.run(outer);
  EXPECT_TRUE(inner_ran);
}

TEST(Runtime, WorksAgainInAForkedChild) {
  Runtime runtime({.thread_count = 2});
  int total = 0;
  auto job = [&] {
    std::vector<int> done(64);
    auto task = [&](int index, int) { done[static_cast<std::size_t>(index)] = 1; };
    runtime.workers().run(64, task);
    for (const int one : done) total += one;
  };
  runtime.run(job);
  ASSERT_EQ(total, 64);
  const pid_t child = fork();
  if (child == 0) {
    total = 0;
    runtime.run(job);
    _exit(total == 64 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(MemoryBudget, RefusesWhatDoesNotFitAndTakesBack) {
  MemoryBudget budget(100);
  auto first = budget.take(60);
  ASSERT_TRUE(first);
  EXPECT_FALSE(budget.take(50));
  first.reset();
  EXPECT_TRUE(budget.take(100));
}

TEST(Runtime, TellsWhatNeverFitsFromWhatDoesNotFitNow) {
  Runtime runtime({.memory_bytes_max = 100});
  auto stays = *runtime.memory().take(20);
  stays.stay();
  const auto gives_way = runtime.memory().take(30);
  const auto refused = [&](std::size_t bytes) {
    return runtime.take_memory(bytes, "a test").error().faults.front().type;
  };
  EXPECT_TRUE(runtime.take_memory(50, "a test").ok());
  EXPECT_EQ(refused(51), "");
  EXPECT_EQ(refused(80), "");
  EXPECT_EQ(refused(81), kNeverFitsFault);
  EXPECT_EQ(refused(101), kNeverFitsFault);
}

struct KeptMemory final : Memory {
  int length() const override { return 1; }
  std::size_t bytes() const override { return 1000; }
  std::vector<std::span<const std::byte>> contents() const override { return {}; }
  bool fill(std::span<const std::byte>) override { return false; }
};

TEST(Runtime, WhatNeverFitsTakesNoSnapshotAway) {
  Runtime runtime({.memory_bytes_max = 10'000});
  const Prompt prompt{.tokens = {1, 2}, .wanted = {0}};
  SnapshotCache& snapshots = runtime.snapshots();
  ASSERT_TRUE(snapshots.keep(snapshots.new_owner(), {prompt, 1}, std::make_shared<KeptMemory>(), 0,
                             nullptr));
  EXPECT_FALSE(runtime.take_memory(10'001, "a test").ok());
  EXPECT_EQ(snapshots.counts().count, 1u);
  EXPECT_TRUE(runtime.take_memory(10'000, "a test").ok());
  EXPECT_EQ(snapshots.counts().count, 0u);
}

TEST(Runtime, WithoutALimitEverythingFits) {
  Runtime runtime;
  auto stays = *runtime.memory().take(20);
  stays.stay();
  EXPECT_TRUE(runtime.take_memory(std::size_t{1} << 40, "a test").ok());
}

TEST(MemoryBudget, WhatStaysIsCountedUntilItIsGivenBack) {
  MemoryBudget memory(100);
  auto gives_way = *memory.take(30);
  {
    auto stays = *memory.take(50);
    stays.stay();
    stays.stay();
    const MemoryBudget::Lease moved = std::move(stays);
    EXPECT_TRUE(moved.stays());
    EXPECT_EQ(memory.bytes_staying(), 50u);
    EXPECT_EQ(memory.bytes_taken(), 80u);
  }
  EXPECT_FALSE(gives_way.stays());
  EXPECT_EQ(memory.bytes_staying(), 0u);
  EXPECT_EQ(memory.bytes_taken(), 30u);
}

}  // namespace
}  // namespace adjudge
