// A few threads for what is too slow for the I/O thread and needs no network: parsing, compiling,
// printing. Unbounded, because every task belongs to a connection and those are counted.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace adjudge::serve {

class WorkPool {
 public:
  explicit WorkPool(int thread_count);
  // Runs what was submitted before, then joins.
  ~WorkPool();
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;

  void submit(std::function<void()> task);

 private:
  void serve(std::stop_token stop);

  std::mutex mutex_;
  std::condition_variable_any arrived_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::jthread> threads_;  // last: they use everything above
};

}  // namespace adjudge::serve
