#include "kernel/avx2/lanes.h"
#include "kernel/simd/blocks.h"
#include "kernel/simd/delta.h"
#include "kernel/simd/panel.h"
#include "kernel/simd/rows.h"

namespace adjudge::kernel::avx2 {

void improve(Table& table);

namespace {

// The instruction multiplies unsigned by signed bytes and adds pairs in 16 bits, which |code| <=
// 128 times 127 does not fill: the inputs take over the codes' signs.
struct BlockLanes : Lanes {
  // A sum, a dot product and the product on its way per row, in 16 registers.
  static constexpr int kBlockRows = 4;
  static constexpr int kBlockVectors = 1;
  static constexpr int kCodeFlip = 0;
  static Ints base(const BlockInput&, int) { return _mm256_setzero_si256(); }
  static Ints dot(Ints codes, Ints inputs, Ints sum) {
    const Ints pairs =
        _mm256_maddubs_epi16(_mm256_abs_epi8(codes), _mm256_sign_epi8(inputs, codes));
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
};

struct UnsignedLanes : BlockLanes {
  static Ints dot(Ints codes, Ints inputs, Ints sum) {
    const Ints pairs = _mm256_maddubs_epi16(codes, inputs);
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
};

}  // namespace

void improve(Table& table) {
  improve_panels<Lanes>(table);
  improve_rows<Lanes>(table);
  improve_blocks<BlockLanes, UnsignedLanes>(table);
  table.delta_step = delta_step<Lanes>;
}

}  // namespace adjudge::kernel::avx2
