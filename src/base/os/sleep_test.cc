#include "base/os/sleep.h"

#include <gtest/gtest.h>

#include <thread>

namespace adjudge {
namespace {

TEST(Sleep, DoesNotBeginWhereTheWordHasChanged) {
  const std::atomic<std::uint32_t> word{5};
  sleep_while(word, 4);
}

TEST(Sleep, EndsWhenSomebodyWakes) {
  std::atomic<std::uint32_t> word{0};
  std::thread sleeper([&word] {
    while (word.load() == 0) sleep_while(word, 0);
  });
  word.store(1);
  wake_sleepers(word);
  sleeper.join();
}

}  // namespace
}  // namespace adjudge
