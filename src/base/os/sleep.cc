#include "base/os/sleep.h"

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#endif

namespace adjudge {

#if defined(__linux__)

// futex(2) wants the word itself, which an atomic of its size is.
static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

void sleep_while(const std::atomic<std::uint32_t>& word, std::uint32_t old) {
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, old, nullptr, nullptr, 0);
}

void wake_sleepers(const std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

#else

void sleep_while(const std::atomic<std::uint32_t>& word, std::uint32_t old) { word.wait(old); }

void wake_sleepers(const std::atomic<std::uint32_t>& word) {
  const_cast<std::atomic<std::uint32_t>&>(word).notify_all();
}

#endif

}  // namespace adjudge
