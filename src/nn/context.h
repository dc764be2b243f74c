// What every layer operation needs: the kernels of this machine, the crew, and the weights.
#pragma once

#include "kernel/table.h"
#include "nn/weight_source.h"
#include "nn/worker_pool.h"

namespace adjudge {

struct NetContext {
  const kernel::Table* kernels;
  WorkerPool* pool;
  WeightSource* weights;
};

}  // namespace adjudge
