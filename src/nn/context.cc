#include "nn/context.h"

namespace adjudge {

kernel::Arithmetic arithmetic_of(const kernel::Table& kernels, Precision precision,
                                 gguf::DType type) {
  using kernel::Arithmetic;
  if (precision == Precision::f32) return Arithmetic::f32;
  if (precision == Precision::bf16) return Arithmetic::bf16;
  if (kernel::block_form(type).part_count == 0) {
    return kernels.fast_bf16 ? Arithmetic::bf16 : Arithmetic::f32;
  }
  const bool whole_numbers = precision == Precision::int8 || kernels.fast_int8;
  return whole_numbers ? Arithmetic::int8 : Arithmetic::f32;
}

}  // namespace adjudge
