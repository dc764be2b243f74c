#include "nn/worker_pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "base/size.h"

namespace adjudge {
namespace {

// How often each of `task_count` tasks ran.
std::vector<int> counts_of_run(WorkerPool& pool, int task_count) {
  std::vector<std::atomic<int>> counts(at(task_count));
  const auto count_one = [&](int index, int worker) {
    EXPECT_TRUE(worker >= 0 && worker < pool.thread_count());
    counts[at(index)].fetch_add(1);
  };
  pool.run(task_count, count_one);
  return {counts.begin(), counts.end()};
}

TEST(WorkerPool, RunsEveryTaskOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    WorkerPool pool(threads);
    for (const int tasks : {0, 1, 2, 3, 7, 100}) {
      EXPECT_EQ(counts_of_run(pool, tasks), std::vector<int>(at(tasks), 1));
    }
  }
}

TEST(WorkerPool, ReturnsOnlyWhenTheLastTaskIsDone) {
  WorkerPool pool(3);
  int values[64] = {};
  for (int round = 0; round < 3000; ++round) {
    const auto write = [&](int index, int) { values[index] = round; };
    pool.run(1 + round % 64, write);
    for (int i = 0; i <= round % 64; ++i) ASSERT_EQ(values[i], round);
  }
}

TEST(WorkerPool, SharesTasksAmongItsThreads) {
  WorkerPool pool(2);
  std::atomic<int> arrived{0};
  // Each task waits for the other: one thread alone would never finish.
  const auto meet = [&](int, int) {
    arrived.fetch_add(1);
    while (arrived.load() < 2) std::this_thread::yield();
  };
  pool.run(2, meet);
  EXPECT_EQ(arrived.load(), 2);
}

TEST(WorkerPool, WakesUpAfterALongPause) {
  WorkerPool pool(2);
  counts_of_run(pool, 10);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(counts_of_run(pool, 10), std::vector<int>(10, 1));
}

TEST(WorkerPool, GivesEveryWorkerItsOwnScratch) {
  WorkerPool pool(2);
  float* first = pool.scratch(0, 100);
  EXPECT_NE(first, pool.scratch(1, 100));
  EXPECT_EQ(first, pool.scratch(0, 50)) << "less than before allocates nothing";
  EXPECT_EQ(pool.bytes(), 200 * sizeof(float));
}

TEST(WorkerPool, UsesWhatTheProcessMay) {
  EXPECT_GE(WorkerPool().thread_count(), 1);
  EXPECT_EQ(WorkerPool(5).thread_count(), 5);
}

#if !defined(__SANITIZE_THREAD__)  // which cannot start threads after a fork of several
TEST(WorkerPool, WorksInAForkedChild) {
  auto pool = std::make_unique<WorkerPool>(2);
  counts_of_run(*pool, 10);  // the parent's threads run
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::atomic<int> arrived{0};
    const auto meet = [&](int, int) {  // as above: needs two threads
      arrived.fetch_add(1);
      while (arrived.load() < 2) std::this_thread::yield();
    };
    ::alarm(10);
    pool->run(2, meet);
    pool.reset();  // must not wait for the parent's threads
    ::_exit(arrived.load() == 2 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(counts_of_run(*pool, 10), std::vector<int>(10, 1));
}

#if !defined(__SANITIZE_ADDRESS__)  // which needs room itself
TEST(WorkerPool, WorksWithoutThreadsWhereTheMachineGivesNone) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(10);
    const rlimit no_room{std::size_t{1} << 20, std::size_t{1} << 20};  // for a thread's stack
    ::setrlimit(RLIMIT_AS, &no_room);
    WorkerPool pool(3);
    ::_exit(counts_of_run(pool, 10) == std::vector<int>(10, 1) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}
#endif

TEST(WorkerPool, IsDestroyedInAForkedChildWithoutItsParentsThreads) {
  auto pool = std::make_unique<WorkerPool>(2);
  counts_of_run(*pool, 10);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(10);
    pool.reset();
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}
#endif

TEST(WorkerPoolDeathTest, RefusesARunInsideARun) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        WorkerPool pool(2);
        const auto nothing = [](int, int) {};
        const auto nested = [&](int, int) { pool.run(2, nothing); };
        pool.run(2, nested);
      },
      "exchange");
}

}  // namespace
}  // namespace adjudge
