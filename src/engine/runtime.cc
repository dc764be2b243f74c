#include "engine/runtime.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "base/os/process.h"

namespace adjudge {

bool never_fits(const Error& error) { return error.faults.front().type == kNeverFitsFault; }

// One thread that runs jobs in order.
struct Runtime::Scheduler {
  struct Job {
    FunctionRef<void()> run;
    bool done = false;
  };

  Scheduler() : thread([this](std::stop_token stop) { serve(stop); }) {}

  ~Scheduler() {
    thread.request_stop();
    arrived.notify_all();
  }

  void run(FunctionRef<void()> callable) {
    if (std::this_thread::get_id() == thread.get_id()) return callable();
    Job job{callable};
    std::unique_lock lock(mutex);
    jobs.push_back(&job);
    arrived.notify_one();
    finished.wait(lock, [&] { return job.done; });
  }

  void serve(std::stop_token stop) {
    std::unique_lock lock(mutex);
    while (true) {
      arrived.wait(lock, stop, [&] { return !jobs.empty(); });
      if (jobs.empty()) return;  // asked to stop, and nothing is left
      Job* job = jobs.front();
      jobs.pop_front();
      lock.unlock();
      job->run();
      lock.lock();
      job->done = true;
      finished.notify_all();
    }
  }

  const int owner = process_id();
  std::mutex mutex;
  std::condition_variable_any arrived;
  std::condition_variable finished;
  std::deque<Job*> jobs;
  std::jthread thread;  // last: it uses everything above
};

Runtime& Runtime::process() {
  static Runtime runtime;
  return runtime;
}

Runtime::Runtime(const RuntimeOptions& options)
    : options_(options),
      memory_(options.memory_bytes_max),
      snapshots_(memory_, options.snapshot_bytes_max) {}

Runtime::~Runtime() {
  // A child of fork() has a scheduler without a thread; joining it would wait for ever.
  if (scheduler_ && scheduler_->owner != process_id()) static_cast<void>(scheduler_.release());
}

Status Runtime::configure(const RuntimeOptions& options) {
  std::lock_guard lock(creation_);
  if (workers_ && options.thread_count != options_.thread_count) {
    return Error{ErrorKind::unavailable,
                 "the number of threads can be set only before the first model is opened"};
  }
  options_ = options;
  memory_.set_bytes_max(options.memory_bytes_max);
  snapshots_.set_bytes_max(options.snapshot_bytes_max);
  return Done{};
}

Result<MemoryBudget::Lease> Runtime::take_memory(std::size_t bytes, const std::string& what) {
  const std::size_t limit = memory_.bytes_max();
  const bool never_fits = limit != 0 && bytes > limit - std::min(limit, memory_.bytes_staying());
  do {
    if (auto lease = memory_.take(bytes)) return std::move(*lease);
  } while (!never_fits && snapshots_.evict_one());
  return Error{
      ErrorKind::unavailable,
      {{{},
        never_fits ? kNeverFitsFault : "",
        "memory budget: " + std::to_string(bytes) + " bytes wanted for " + what + ", " +
            std::to_string(memory_.bytes_taken()) + " of " + std::to_string(limit) + " in use"}}};
}

WorkerPool& Runtime::workers() {
  std::lock_guard lock(creation_);
  if (!workers_) workers_ = std::make_unique<WorkerPool>(options_.thread_count);
  return *workers_;
}

Runtime::Scheduler& Runtime::scheduler() {
  std::lock_guard lock(creation_);
  if (scheduler_ && scheduler_->owner != process_id()) static_cast<void>(scheduler_.release());
  if (!scheduler_) scheduler_ = std::make_unique<Scheduler>();
  return *scheduler_;
}

void Runtime::run(FunctionRef<void()> job) { scheduler().run(job); }

}  // namespace adjudge
