// What every layer operation needs: the kernels of this machine, the crew, the weights, and how
// exact products have to be.
#pragma once

#include "kernel/table.h"
#include "nn/weight_source.h"
#include "nn/worker_pool.h"

namespace adjudge {

// The arithmetic of products with weight matrices. A fixed choice per weight format and instruction
// set, never one of size or load:
//   f32        f32 everywhere
//   bf16       bfloat16 everywhere
//   int8       formats of blocks (Q8_0, Q4_K ...) as whole numbers; f32, f16 and bf16 as in
//   automatic automatic  what the instruction set does faster than f32: formats of blocks as whole
//   numbers,
//              f32, f16 and bf16 in bfloat16; f32 otherwise
enum class Precision { automatic, f32, bf16, int8 };

kernel::Arithmetic arithmetic_of(const kernel::Table& kernels, Precision precision,
                                 gguf::DType type);

struct NetContext {
  const kernel::Table* kernels;
  WorkerPool* pool;
  WeightSource* weights;
  Precision precision = Precision::f32;
};

}  // namespace adjudge
