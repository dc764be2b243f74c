#include "kernel/avx512/lanes.h"
#include "kernel/simd/panel.h"

namespace adjudge::kernel::avx512bf16 {

void improve(Table& table);

namespace {

struct PairLanes : avx512::Lanes {
  static Floats all_pairs(std::uint32_t pair) {
    return _mm512_castsi512_ps(_mm512_set1_epi32(static_cast<int>(pair)));
  }
  // sum + the products of the lower and of the upper halves.
  static Floats add_pairs(Floats inputs, Floats weights, Floats sum) {
    return _mm512_dpbf16_ps(sum, (__m512bh)inputs, (__m512bh)weights);
  }
  static void store_pairs(std::uint32_t* to, Floats first, Floats last) {
    _mm512_storeu_si512(to, (__m512i)_mm512_cvtne2ps_pbh(last, first));
  }
};

}  // namespace

void improve(Table& table) { improve_pairs<PairLanes>(table); }

}  // namespace adjudge::kernel::avx512bf16
