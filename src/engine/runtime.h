// What a process has once, whatever the number of models: the turn to evaluate, the worker crew and
// the account of memory. Threads start at the first use, and again in a child after a fork.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>

#include "adjudge/result.h"
#include "engine/memory_budget.h"
#include "engine/snapshot_cache.h"
#include "nn/worker_pool.h"

namespace adjudge {

// Bytes of beginnings kept over requests: some twenty of a few hundred tokens in a network
// of a billion weights.
inline constexpr std::size_t kSnapshotBytes = std::size_t{512} << 20;

// The type of the fault in an error about memory that nobody who gives way could make enough.
inline constexpr const char* kNeverFitsFault = "memory_limit";
bool never_fits(const Error& error);

struct RuntimeOptions {
  int thread_count = 0;              // workers; zero: as many cores as the process may use
  std::size_t memory_bytes_max = 0;  // zero: no limit
  std::size_t snapshot_bytes_max = kSnapshotBytes;
};

class Runtime {
 public:
  // The process's own.
  static Runtime& process();
  // Limits of bytes take effect at once, whenever they are set. Another number of threads is
  // refused (unavailable) once the workers exist, and then nothing changes.
  Status configure(const RuntimeOptions& options);

  explicit Runtime(const RuntimeOptions& options = {});
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  WorkerPool& workers();
  MemoryBudget& memory() { return memory_; }
  SnapshotCache& snapshots() { return snapshots_; }
  // A part of the memory, for which snapshots go if need be; else an error that names `what`.
  Result<MemoryBudget::Lease> take_memory(std::size_t bytes, const std::string& what);

  // Runs `job` here and now or, while others run theirs, after those that came before: backbones
  // are used by one job at a time. Within a job: at once.
  void run(FunctionRef<void()> job);

 private:
  struct Turns;
  Turns& turns();

  std::mutex creation_;  // of what starts lazily; held for a moment only
  RuntimeOptions options_;
  MemoryBudget memory_;
  SnapshotCache snapshots_;
  std::unique_ptr<WorkerPool> workers_;
  std::unique_ptr<Turns> turns_;
};

}  // namespace adjudge
