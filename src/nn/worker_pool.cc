#include "nn/worker_pool.h"

#include <atomic>
#include <cstdint>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "base/aligned.h"
#include "base/check.h"
#include "base/os/cpu.h"
#include "base/os/process.h"
#include "base/os/sleep.h"
#include "base/size.h"

namespace adjudge {

namespace {

using Task = FunctionRef<void(int index, int worker)>;

// Rounds of waiting with the processor's pause instruction before a thread sleeps: some 20 to 50
// microseconds, the gap between two layers' operations and about the cost of waking up.
constexpr int kSpinCount = 2000;

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// A word that threads wait on: first awake, then asleep.
class WaitWord {
 public:
  std::uint32_t load() const { return value_.load(std::memory_order_acquire); }
  void store(std::uint32_t value) { value_.store(value, std::memory_order_relaxed); }
  std::uint32_t take_one() { return value_.fetch_sub(1) - 1; }
  void add_one() { value_.fetch_add(1); }

  // Returns once the word is no longer `old`, and perhaps earlier.
  void wait_while(std::uint32_t old) {
    for (int i = 0; i < kSpinCount; ++i) {
      if (load() != old) return;
      pause();
    }
    // In one order with the changes: whoever changes the word from here on sees the sleeper, and
    // what was changed before keeps it awake.
    sleeper_count_.fetch_add(1);
    sleep_while(value_, old);
    sleeper_count_.fetch_sub(1);
  }

  // To be called after a change.
  void wake() {
    if (sleeper_count_.load() > 0) wake_sleepers(value_);
  }

 private:
  std::atomic<std::uint32_t> value_{0};
  std::atomic<int> sleeper_count_{0};
};

}  // namespace

// A round is published in one word, `tickets`: its number above, the tasks nobody has taken yet
// below. Taking a task is a compare-and-swap of the whole word, so a thread that wakes up late
// either gets a task of the current round or none; nobody waits for threads that took nothing.
struct WorkerPool::Crew {
  explicit Crew(int thread_count) : count(thread_count), scratch(at(thread_count)) {}

  const int count;  // the caller is worker 0
  std::vector<Aligned<float>> scratch;
  Aligned<float> shared_scratch;

  std::atomic<std::uint64_t> tickets{0};
  std::atomic<const Task*> task{nullptr};
  std::atomic<int> task_count{0};
  WaitWord open_count;  // tasks not finished yet
  WaitWord bell;        // rounds begun; what idle threads wait on
  std::atomic<bool> stopping{false};
  std::atomic<bool> running{false};
  std::vector<std::thread> threads;
  int owner = 0;  // the process whose threads these are

  void ensure_threads() {
    const int process = process_id();
    if (owner == process) return;
    // After a fork the threads stayed behind: forget them, joining or destroying them is not ours.
    if (owner != 0) abandon_threads();
    owner = process;
    try {
      for (int worker = 1; worker < count; ++worker) {
        threads.emplace_back([this, worker] { serve(worker); });
      }
    } catch (const std::system_error&) {
      // The machine gives no more threads; those there are, and the caller, do the work.
    }
  }

  void abandon_threads() {
    for (std::thread& thread : threads) ::new (static_cast<void*>(&thread)) std::thread();
    threads.clear();
    running = false;  // the fork may have copied a round in progress
    tickets = 0;
  }

  void serve(int worker) {
    std::uint32_t heard = 0;
    while (!stopping.load(std::memory_order_acquire)) {
      const std::uint32_t rung = bell.load();
      if (rung == heard) {
        bell.wait_while(heard);
        continue;
      }
      heard = rung;
      take_tasks(worker);
    }
  }

  void take_tasks(int worker) {
    std::uint64_t ticket = tickets.load(std::memory_order_acquire);
    while (static_cast<std::uint32_t>(ticket) != 0) {
      // While the word stands, its round is not over and the two fields below are that round's.
      const Task* current = task.load(std::memory_order_relaxed);
      const int total = task_count.load(std::memory_order_relaxed);
      if (!tickets.compare_exchange_weak(ticket, ticket - 1, std::memory_order_acq_rel,
                                         std::memory_order_acquire)) {
        continue;
      }
      (*current)(total - static_cast<int>(static_cast<std::uint32_t>(ticket)), worker);
      if (open_count.take_one() == 0) open_count.wake();
      ticket = tickets.load(std::memory_order_acquire);
    }
  }

  void run(int total, const Task& current) {
    task.store(&current, std::memory_order_relaxed);
    task_count.store(total, std::memory_order_relaxed);
    open_count.store(static_cast<std::uint32_t>(total));
    const std::uint64_t round = (tickets.load(std::memory_order_relaxed) >> 32) + 1;
    tickets.store(round << 32 | static_cast<std::uint32_t>(total), std::memory_order_release);
    bell.add_one();
    bell.wake();
    take_tasks(0);
    for (std::uint32_t open = open_count.load(); open != 0; open = open_count.load()) {
      open_count.wait_while(open);
    }
  }
};

WorkerPool::WorkerPool(int thread_count)
    : crew_(std::make_unique<Crew>(thread_count > 0 ? thread_count : usable_cpu_count())) {}

WorkerPool::~WorkerPool() {
  if (crew_->owner != 0 && crew_->owner != process_id()) crew_->abandon_threads();
  crew_->stopping = true;
  crew_->bell.add_one();
  crew_->bell.wake();
  for (std::thread& thread : crew_->threads) thread.join();
}

int WorkerPool::thread_count() const { return crew_->count; }

void WorkerPool::run(int task_count, FunctionRef<void(int index, int worker)> task) {
  if (task_count <= 0) return;
  if (task_count == 1 || crew_->count == 1) {
    for (int index = 0; index < task_count; ++index) task(index, 0);
    return;
  }
  crew_->ensure_threads();
  CHECK(!crew_->running.exchange(true));  // not reentrant, one caller at a time
  crew_->run(task_count, task);
  crew_->running = false;
}

float* WorkerPool::scratch(int worker, std::size_t count) {
  Aligned<float>& room = crew_->scratch[at(worker)];
  room.ensure(count);
  return room.data();
}

float* WorkerPool::shared_scratch(std::size_t count) {
  crew_->shared_scratch.ensure(count);
  return crew_->shared_scratch.data();
}

std::size_t WorkerPool::bytes() const {
  std::size_t sum = crew_->shared_scratch.bytes();
  for (const Aligned<float>& room : crew_->scratch) sum += room.bytes();
  return sum;
}

}  // namespace adjudge
