#include "kernel/avx2/lanes.h"
#include "kernel/simd/blocks.h"

namespace adjudge::kernel::avxvnni {

void improve(Table& table);

namespace {

struct BlockLanes : avx2::Lanes {
  // 3 rows by 2 vectors are 12 of the 16 registers, as each has a sum and a dot product.
  static constexpr int kBlockRows = 3;
  static constexpr int kBlockVectors = 2;
  static constexpr int kCodeFlip = 0x80;  // codes plus 128: the instruction takes unsigned ones
  using Dots = Ints;
  static Dots start(const BlockInput& input, int part) {
    return _mm256_set1_epi32(input.bases[part]);
  }
  static void add_dot(Ints codes, Ints inputs, Dots& dots) {
    dots = _mm256_dpbusd_avx_epi32(dots, codes, inputs);
  }
  static void pause_dot(Dots&) {}
  static Ints total(Dots dots) { return dots; }
};

}  // namespace

void improve(Table& table) { improve_blocks<BlockLanes>(table); }

}  // namespace adjudge::kernel::avxvnni
