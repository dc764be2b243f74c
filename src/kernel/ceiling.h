// The most a core can do with an instruction set's multiply-adds, from registers only: the
// yardstick beside every figure of speed. Knows no kernel of ours.
#pragma once

#include <span>

namespace adjudge::kernel {

struct Ceiling {
  const char* isa;         // the level that brings the instruction
  const char* arithmetic;  // f32, bf16 or int8
  void (*run)();      // some microseconds of nothing else; where the machine has the level only
  double operations;  // of one run; a multiply-add is two, of whole numbers too
};

// One per level and arithmetic it brings or widens, weakest level first.
std::span<const Ceiling> ceilings();

}  // namespace adjudge::kernel
