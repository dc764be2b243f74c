// What every layer operation needs: the kernels of this machine, the crew, the weights, and how
// exact products have to be.
#pragma once

#include "kernel/table.h"
#include "nn/weight_source.h"
#include "nn/worker_pool.h"

namespace adjudge {

// The arithmetic of products with weight matrices. A fixed choice per weight format and instruction
// set, never one of size or load. "Blocks" are the formats that store whole numbers and their
// scales (Q8_0, Q4_K ...).
enum class Precision {
  automatic,  // what the instruction set does faster: blocks in int8, others in bf16; else f32
  f32,        // f32 everywhere
  bf16,       // bfloat16 everywhere
  int8,       // blocks as whole numbers; F32, F16 and BF16 as in `automatic`
};

kernel::Arithmetic arithmetic_of(const kernel::Table& kernels, Precision precision,
                                 gguf::DType type);

struct NetContext {
  const kernel::Table* kernels;
  WorkerPool* pool;
  WeightSource* weights;
  Precision precision = Precision::f32;
};

}  // namespace adjudge
