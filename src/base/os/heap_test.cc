#include "base/os/heap.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstddef>
#include <memory>

namespace adjudge {
namespace {

constexpr std::size_t kBytes = std::size_t{24} << 20;

// Pages that the system had to find for an array that is written from end to end.
long pages_found() {
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  const std::unique_ptr<volatile char[]> array(new volatile char[kBytes]);
  for (std::size_t i = 0; i < kBytes; i += 64) array[i] = 1;
  getrusage(RUSAGE_SELF, &after);
  return after.ru_minflt - before.ru_minflt;
}

TEST(Heap, WhatWasFreedIsThereForTheNextUntilItIsGivenBack) {
  if (!keep_freed_memory()) GTEST_SKIP() << "this heap has its own ways";
  pages_found();
  EXPECT_LT(pages_found(), 10);
  give_back_freed_memory();
  EXPECT_GT(pages_found(), 10);
}

}  // namespace
}  // namespace adjudge
