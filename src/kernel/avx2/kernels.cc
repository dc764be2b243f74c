#include "kernel/avx2/lanes.h"
#include "kernel/simd/blocks.h"
#include "kernel/simd/delta.h"
#include "kernel/simd/panel.h"
#include "kernel/simd/rows.h"

namespace adjudge::kernel::avx2 {

void improve(Table& table);

namespace {

Lanes::Ints sum_pairs(Lanes::Ints pairs) { return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)); }

// The instruction multiplies unsigned by signed bytes and adds pairs in 16 bits, which |code| <=
// 128 times 127 does not fill: the inputs take over the codes' signs.
struct SignedLanes : Lanes {
  // A sum, a dot product and the product on its way per row, in 16 registers.
  static constexpr int kBlockRows = 4;
  static constexpr int kBlockVectors = 1;
  static constexpr int kCodeFlip = 0;
  using Dots = Ints;
  static Dots start(const BlockInput&, int) { return _mm256_setzero_si256(); }
  static void add_dot(Ints codes, Ints inputs, Dots& dots) {
    const Ints signed_inputs = _mm256_sign_epi8(inputs, codes);
    const Ints pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(codes), signed_inputs);
    dots = _mm256_add_epi32(dots, sum_pairs(pairs));
  }
  static void pause_dot(Dots&) {}
  static Ints total(Dots dots) { return dots; }
};

// Codes of formats with offsets are 0 to 31: sums of 4 words, 31 * 127 * 2 * 4 = 31496 at most, fit
// 16 bits. A block has 8.
struct UnsignedLanes : SignedLanes {
  struct Dots {
    Ints pairs;
    Ints total;
  };
  static Dots start(const BlockInput&, int) {
    return {_mm256_setzero_si256(), _mm256_setzero_si256()};
  }
  static void add_dot(Ints codes, Ints inputs, Dots& dots) {
    dots.pairs = _mm256_add_epi16(dots.pairs, _mm256_maddubs_epi16(codes, inputs));
  }
  static void pause_dot(Dots& dots) {
    dots = {_mm256_setzero_si256(), _mm256_add_epi32(dots.total, sum_pairs(dots.pairs))};
  }
  static Ints total(Dots dots) {
    pause_dot(dots);
    return dots.total;
  }
};

}  // namespace

void improve(Table& table) {
  improve_panels<Lanes>(table);
  improve_rows<Lanes>(table);
  improve_blocks<SignedLanes, BlockTile<SignedLanes>, BlockTile<UnsignedLanes>>(table);
  table.delta_rule = delta_rule<Lanes>;
}

}  // namespace adjudge::kernel::avx2
