// A fixed crew of threads that share one task list at a time. One per process, shared by all
// models. Threads start at the first use and again in the child after a fork.
#pragma once

#include <cstddef>
#include <memory>

namespace adjudge {

// A borrowed callable: cheaper than std::function and never allocates.
template <class Signature>
class FunctionRef;
template <class Return, class... Arguments>
class FunctionRef<Return(Arguments...)> {
 public:
  template <class Callable>
  FunctionRef(Callable& callable)  // NOLINT: conversion is the point
      : object_(const_cast<void*>(static_cast<const void*>(&callable))),
        call_([](void* object, Arguments... arguments) -> Return {
          return (*static_cast<Callable*>(object))(arguments...);
        }) {}
  Return operator()(Arguments... arguments) const { return call_(object_, arguments...); }

 private:
  void* object_;
  Return (*call_)(void*, Arguments...);
};

class WorkerPool {
 public:
  // Zero: as many as the process may use (affinity and cgroup quota respected).
  explicit WorkerPool(int thread_count = 0);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  int thread_count() const;
  // Calls task(index, worker) for every index in [0, task_count), each once, on any worker in
  // [0, thread_count); returns when all are done. Not reentrant; one caller at a time.
  void run(int task_count, FunctionRef<void(int index, int worker)> task);

  // Room for `count` floats that `worker` alone uses until its task ends, on a cache line.
  // Allocates only when a worker asks for more than it ever had.
  float* scratch(int worker, std::size_t count);
  // Room for `count` floats that one caller of run() fills and all workers read, until the next
  // call. Allocates as scratch() does.
  float* shared_scratch(std::size_t count);
  // Private memory of all scratch.
  std::size_t bytes() const;

 private:
  struct Crew;
  std::unique_ptr<Crew> crew_;
};

}  // namespace adjudge
