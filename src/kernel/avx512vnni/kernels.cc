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

  // 64 codes of a row of blocks, from input k on.
  static Floats load_codes(const gguf::BlockQ8_0* row, int k) {
    const auto* low = reinterpret_cast<const __m256i*>(row[k / 32].values);
    const auto* high = reinterpret_cast<const __m256i*>(row[k / 32 + 1].values);
    return _mm512_castsi512_ps(_mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256(low)),
                                                  _mm256_loadu_si256(high), 1));
  }
  static Floats load_codes(const gguf::BlockQ4_K* row, int k) {
    const Ints nibbles = twice(row[k / 256].values + k % 256 / 2, 0, 4);
    return _mm512_castsi512_ps(_mm512_and_si512(nibbles, _mm512_set1_epi8(15)));
  }
  static Floats load_codes(const gguf::BlockQ6_K* row, int k) {
    const gguf::BlockQ6_K& block = row[k / 256];
    const int half = k % 256 / 128, upper = k % 128 / 64;
    const Ints packed = load_ints(block.low + 64 * half);
    const Ints low = _mm512_and_si512(right(packed, 4 * upper), _mm512_set1_epi8(15));
    const Ints pairs = twice(block.high + 32 * half, 4 * upper, 4 * upper + 2);
    const Ints high = left(_mm512_and_si512(pairs, _mm512_set1_epi8(3)), 4);
    return _mm512_castsi512_ps(_mm512_sub_epi8(_mm512_or_si512(low, high), _mm512_set1_epi8(32)));
  }
  // 32 bytes, and the same again, each shifted right; bits of neighbours come in from above.
  static Ints twice(const std::uint8_t* from, int first, int second) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    return _mm512_srlv_epi64(
        _mm512_broadcast_i64x4(bytes),
        _mm512_setr_epi64(first, first, first, first, second, second, second, second));
  }

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
