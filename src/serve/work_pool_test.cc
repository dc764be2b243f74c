#include "serve/work_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>

namespace adjudge::serve {
namespace {

TEST(WorkPool, EverySubmittedTaskRunsBeforeItEnds) {
  std::atomic<int> ran = 0;
  {
    WorkPool pool(2);
    for (int i = 0; i < 1000; ++i) pool.submit([&] { ++ran; });
  }
  EXPECT_EQ(ran, 1000);
}

TEST(WorkPool, OneSlowTaskDoesNotHoldUpTheOthers) {
  WorkPool pool(2);
  std::promise<void> finish, finished;
  pool.submit([&] { finish.get_future().wait(); });
  pool.submit([&] { finished.set_value(); });
  finished.get_future().wait();
  finish.set_value();
}

TEST(WorkPool, WhatATaskHoldsIsReleasedWhenItHasRun) {
  WorkPool pool(1);
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = held;
  pool.submit([held = std::move(held)] {});
  std::promise<void> later;
  pool.submit([&] { later.set_value(); });
  later.get_future().wait();
  EXPECT_TRUE(watched.expired());
}

}  // namespace
}  // namespace adjudge::serve
