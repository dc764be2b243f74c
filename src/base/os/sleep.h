// Sleeping on a word of memory. What std::atomic::wait does, without the calls of sched_yield it
// makes first: a thread that shares a processor with the one it waits for would give way to it
// again and again, never sleep, and so never be woken on a processor that has nothing to do.
#pragma once

#include <atomic>
#include <cstdint>

namespace adjudge {

// Sleeps if `word` is `old`, until somebody wakes its sleepers; may return early.
void sleep_while(const std::atomic<std::uint32_t>& word, std::uint32_t old);

void wake_sleepers(const std::atomic<std::uint32_t>& word);

}  // namespace adjudge
