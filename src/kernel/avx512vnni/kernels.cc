#include "kernel/avx512/lanes.h"
#include "kernel/simd/blocks.h"

namespace adjudge::kernel::avx512vnni {

void improve(Table& table);

namespace {

struct BlockLanes : avx512::Lanes {
  // 5 rows by 2 vectors are 20 of the 32 registers, as each has a sum and a dot product; g++ 12
  // spills from 27 live ones on.
  static constexpr int kBlockRows = 5;
  static constexpr int kBlockVectors = 2;
  static constexpr int kCodeFlip = 0x80;  // codes plus 128: the instruction takes unsigned ones
  using Dots = Ints;
  static Dots start(const BlockInput& input, int part) {
    return _mm512_set1_epi32(input.bases[part]);
  }
  static void add_dot(Ints codes, Ints inputs, Dots& dots) {
    dots = _mm512_dpbusd_epi32(dots, codes, inputs);
  }
  static void pause_dot(Dots&) {}
  static Ints total(Dots dots) { return dots; }
};

}  // namespace

void improve(Table& table) { improve_blocks<BlockLanes>(table); }

}  // namespace adjudge::kernel::avx512vnni
