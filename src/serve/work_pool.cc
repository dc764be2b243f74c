#include "serve/work_pool.h"

#include <utility>

namespace adjudge::serve {

WorkPool::WorkPool(int thread_count) {
  for (int i = 0; i < thread_count; ++i) {
    threads_.emplace_back([this](std::stop_token stop) { serve(stop); });
  }
}

WorkPool::~WorkPool() {
  for (std::jthread& thread : threads_) thread.request_stop();
}

void WorkPool::submit(std::function<void()> task) {
  {
    std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  arrived_.notify_one();
}

void WorkPool::serve(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  while (true) {
    arrived_.wait(lock, stop, [&] { return !tasks_.empty(); });
    if (tasks_.empty()) return;  // asked to stop, and nothing is left
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    task = nullptr;  // what it holds is released here, not under the lock
    lock.lock();
  }
}

}  // namespace adjudge::serve
