// Counts allocations, to show that a pass like one before it makes none.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "backbone/sample.h"
#include "backbone/test_network.h"

namespace {

std::atomic<long> allocation_count{0};

void* allocate(std::size_t bytes, std::size_t alignment) {
  ++allocation_count;
  const std::size_t rounded = (bytes + alignment) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded);
  if (memory == nullptr) std::abort();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace adjudge::testing {

TEST(Allocation, ASecondPassOfTheSameShapeMakesNone) {
  const Tokens tokens = some_tokens(20, 97);
  const std::vector<int> wanted = {3, 19};
  for (const Sample& sample : samples()) {
    // One worker: of several, one may sleep through the first pass and ask for memory in the
    // second.
    const TestNetwork network(sample, {.thread_count = 1, .rows_max = 64});
    const auto root = std::shared_ptr<Memory>(network.begin(20, nullptr, true));
    const auto first = network.begin(20, root);
    const auto second = network.begin(20, root);
    network.extend(*root, {.tokens = tokens}, {});

    const auto pass = [&](Memory& memory, HiddenRows& rows) {
      const Work work{&memory, {.tokens = tokens}, wanted, &rows};
      const long before = allocation_count;
      EXPECT_TRUE(network.backbone().extend({&work, 1}, {}).ok());
      return allocation_count - before;
    };
    HiddenRows rows(network.backbone().traits().width);
    EXPECT_GT(pass(*first, rows), 0);
    const long for_rows = 1;  // HiddenRows grows
    EXPECT_LE(pass(*second, rows), for_rows) << sample.name;
  }
}

TEST(Allocation, ScratchIsAllocatedAtTheFirstPassAndAsLargeAsSaid) {
  for (const Sample& sample : samples()) {
    const TestNetwork small(sample, {.rows_max = 8});
    const TestNetwork large(sample, {.rows_max = 80});
    EXPECT_EQ(large.backbone().scratch_bytes(), 10 * small.backbone().scratch_bytes());
    // A pass of all rows, all wanted, needs exactly what was computed: a frame would CHECK.
    EXPECT_EQ(small.rows_of(some_tokens(8, 97)).count(), 8);
  }
}

}  // namespace adjudge::testing
