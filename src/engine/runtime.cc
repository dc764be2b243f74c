#include "engine/runtime.h"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "base/os/process.h"

namespace adjudge {

bool never_fits(const Error& error) { return error.faults.front().type == kNeverFitsFault; }

// Who runs a job now, and who comes after: tickets, because a mutex is not fair.
struct Runtime::Turns {
  // One's turn, from when it comes until it is passed on, whichever way the job ends.
  class Mine {
   public:
    explicit Mine(Turns& order) : order_(order) { order_.await(); }
    ~Mine() { order_.pass_on(); }
    Mine(const Mine&) = delete;
    Mine& operator=(const Mine&) = delete;

   private:
    Turns& order_;
  };

  void await() {
    std::unique_lock lock(mutex);
    const std::uint64_t ticket = next_ticket++;
    passed.wait(lock, [&] { return turn == ticket; });
    runner = std::this_thread::get_id();
  }

  void pass_on() {
    {
      std::lock_guard lock(mutex);
      ++turn;
      runner = {};
    }
    passed.notify_all();
  }

  bool is_mine() {
    std::lock_guard lock(mutex);
    return runner == std::this_thread::get_id();
  }

  const int owner = process_id();
  std::mutex mutex;
  std::condition_variable passed;
  std::uint64_t next_ticket = 0;
  std::uint64_t turn = 0;
  std::thread::id runner;
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
  // In a child of fork() somebody who stayed behind may hold its mutex for ever.
  if (turns_ && turns_->owner != process_id()) static_cast<void>(turns_.release());
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

Runtime::Turns& Runtime::turns() {
  std::lock_guard lock(creation_);
  if (turns_ && turns_->owner != process_id()) static_cast<void>(turns_.release());
  if (!turns_) turns_ = std::make_unique<Turns>();
  return *turns_;
}

void Runtime::run(FunctionRef<void()> job) {
  Turns& order = turns();
  if (order.is_mine()) return job();
  const Turns::Mine turn(order);
  job();
}

}  // namespace adjudge
