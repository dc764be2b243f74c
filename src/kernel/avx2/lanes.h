// Eight f32 lanes: the words in which kernel/simd/ is written, for AVX2 with FMA and F16C.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace adjudge::kernel::avx2 {

namespace {

struct Lanes {
  static constexpr int kCount = 8;
  // 6 rows by 2 vectors are 12 of the 16 registers, and leave room for two weights and an input.
  static constexpr int kTileRows = 6;
  static constexpr int kDeltaVectors = 2;  // four sums each: 8 of the 16 registers
  using Floats = __m256;
  using Ints = __m256i;

  static Floats zero() { return _mm256_setzero_ps(); }
  static Floats all(float value) { return _mm256_set1_ps(value); }
  static Ints first(int count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  static Floats load(const void* from) { return _mm256_loadu_ps(static_cast<const float*>(from)); }
  static Floats load(const float* from, int count) {  // zeros behind
    return _mm256_maskload_ps(from, first(count));
  }
  static void store(float* to, Floats v) { _mm256_storeu_ps(to, v); }
  static void store(float* to, Floats v, int count) { _mm256_maskstore_ps(to, first(count), v); }

  static Floats add(Floats a, Floats b) { return _mm256_add_ps(a, b); }
  static Floats sub(Floats a, Floats b) { return _mm256_sub_ps(a, b); }
  static Floats mul(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
  static Floats div(Floats a, Floats b) { return _mm256_div_ps(a, b); }
  static Floats fma(Floats a, Floats b, Floats sum) { return _mm256_fmadd_ps(a, b, sum); }
  static Floats fnma(Floats a, Floats b, Floats sum) { return _mm256_fnmadd_ps(a, b, sum); }
  // The second operand where either is not a number.
  static Floats max(Floats a, Floats b) { return _mm256_max_ps(a, b); }
  static Floats min(Floats a, Floats b) { return _mm256_min_ps(a, b); }
  static float sum(Floats v) {
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    four = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(four, _mm_movehdup_ps(four)));
  }
  static float largest(Floats v) {
    __m128 four = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    four = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(four, _mm_movehdup_ps(four)));
  }
  // v where lane < count, else `other`.
  static Floats first_or(Floats v, int count, Floats other) {
    return _mm256_blendv_ps(other, v, _mm256_castsi256_ps(first(count)));
  }
  static Floats round(Floats v) {
    return _mm256_round_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
  // v * 2^n for whole n of [-252, 252], with gradual underflow: a factor alone would leave the
  // exponents there are, so it is taken in two.
  static Floats scale(Floats v, Floats n) {
    const Ints whole = _mm256_cvtps_epi32(n);
    const Ints half = _mm256_srai_epi32(whole, 1);
    return mul(mul(v, power_of_two(half)), power_of_two(_mm256_sub_epi32(whole, half)));
  }
  static Floats power_of_two(Ints n) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23));
  }

  static float half(std::uint16_t bits) {
    return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(bits)));
  }
  static Floats load_half(const void* from) {
    return _mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(from)));
  }
  static Floats load_bf16(const void* from) {
    const __m128i bits = _mm_loadu_si128(static_cast<const __m128i*>(from));
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
  }

  static Ints load_u8(const std::uint8_t* from) {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
  }
  static Ints load_i8(const std::int8_t* from) {
    return _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
  }
  static Ints all_bits(std::uint32_t bits) { return _mm256_set1_epi32(static_cast<int>(bits)); }
  static Floats flip_bits(Floats v, std::uint32_t bits) {
    return _mm256_xor_ps(v, _mm256_castsi256_ps(all_bits(bits)));
  }
  static Ints bits_and(Ints a, Ints b) { return _mm256_and_si256(a, b); }
  static Ints bits_or(Ints a, Ints b) { return _mm256_or_si256(a, b); }
  static Ints right(Ints v, int shift) { return _mm256_srl_epi32(v, _mm_cvtsi32_si128(shift)); }
  static Ints left(Ints v, int shift) { return _mm256_sll_epi32(v, _mm_cvtsi32_si128(shift)); }
  // Lane i shifted right by i.
  static Ints right_by_lane(Ints v) {
    return _mm256_srlv_epi32(v, _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  static Floats floats(Ints v) { return _mm256_cvtepi32_ps(v); }
  // table[index] for indices below 16: bit 3 of the index, moved to the sign, chooses the half.
  static Floats look_up(const float* table, Ints index) {
    const Floats low = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table), index);
    const Floats high = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table + 8), index);
    return _mm256_blendv_ps(low, high, _mm256_castsi256_ps(_mm256_slli_epi32(index, 28)));
  }

  // Whole numbers, for kernel/simd/blocks.h.
  static Ints load_ints(const void* from) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(from));
  }
  static void store_ints(void* to, Ints v) { _mm256_storeu_si256(static_cast<__m256i*>(to), v); }
  static Ints all_words(const void* from) {  // four bytes, over and over
    std::int32_t word;
    std::memcpy(&word, from, sizeof(word));
    return _mm256_set1_epi32(word);
  }
  static Ints ints_of(Floats v) { return _mm256_castps_si256(v); }
  static Floats as_floats(Ints v) { return _mm256_castsi256_ps(v); }
  static Ints rounded(Floats v) { return _mm256_cvtps_epi32(v); }
  static Ints max_bits(Ints a, Ints b) { return _mm256_max_epu32(a, b); }
  static float largest_bits(Ints v) {
    __m128i four = _mm_max_epu32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    four = _mm_max_epu32(four, _mm_shuffle_epi32(four, 0x4e));
    return _mm_cvtss_f32(_mm_castsi128_ps(_mm_max_epu32(four, _mm_shuffle_epi32(four, 0xb1))));
  }
  static std::int32_t sum_ints(Ints v) {
    __m128i four = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(four, _mm_shuffle_epi32(four, 0xb1)));
  }
  static void store_i8(std::int8_t* to, Ints v) {
    const __m128i words =
        _mm_packs_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packs_epi16(words, words));
  }
  // out = factor * bytes, eight of them.
  static void scale_eight(const std::uint8_t* bytes, float factor, float* out) {
    scale_eight(_mm256_cvtepu8_epi32(eight_bytes(bytes)), factor, out);
  }
  static void scale_eight(const std::int8_t* bytes, float factor, float* out) {
    scale_eight(_mm256_cvtepi8_epi32(eight_bytes(bytes)), factor, out);
  }
  static void scale_eight(__m256i values, float factor, float* out) {
    _mm256_storeu_ps(out, _mm256_mul_ps(_mm256_cvtepi32_ps(values), _mm256_set1_ps(factor)));
  }
  static __m128i eight_bytes(const void* from) {
    return _mm_loadl_epi64(static_cast<const __m128i*>(from));
  }
  // Low halves of 16 bytes, then their high halves, through a table of 16.
  static void look_up(const std::int8_t* table, const std::uint8_t* packed, std::int8_t* codes) {
    const __m128i values = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table));
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(packed));
    const __m128i low = _mm_and_si128(bytes, _mm_set1_epi8(15));
    const __m128i high = _mm_and_si128(_mm_srli_epi16(bytes, 4), _mm_set1_epi8(15));
    auto* to = reinterpret_cast<__m128i*>(codes);
    _mm_storeu_si128(to, _mm_shuffle_epi8(values, low));
    _mm_storeu_si128(to + 1, _mm_shuffle_epi8(values, high));
  }
  // Low halves of 16 bytes, then their high halves, with bit i of `high` as the fifth bit of code
  // i; less `zero`.
  static void read_fives(const std::uint8_t* packed, std::uint32_t high, std::int8_t zero,
                         std::int8_t* codes) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(packed));
    const __m256i nibbles =
        _mm256_and_si256(_mm256_set_m128i(_mm_srli_epi16(bytes, 4), bytes), _mm256_set1_epi8(15));
    // Each byte of `high` eight times, and of each its own bit.
    const __m256i own_byte = _mm256_shuffle_epi8(
        _mm256_set1_epi32(static_cast<int>(high)),
        _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303));
    const __m256i bit = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201));
    const __m256i set = _mm256_cmpeq_epi8(_mm256_and_si256(own_byte, bit), bit);
    const __m256i fives = _mm256_or_si256(nibbles, _mm256_and_si256(set, _mm256_set1_epi8(16)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(codes),
                        _mm256_sub_epi8(fives, _mm256_set1_epi8(zero)));
  }

  // Lane i: all lanes of v[i] combined. Of two registers one is left, half as many times each.
  template <class Combine>
  static Floats combine_lanes(Floats (&v)[kCount], const Combine& combine) {
    for (int i = 0; i < 4; ++i) {
      const Floats a = v[2 * i], b = v[2 * i + 1];
      v[i] = combine(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
    }
    for (int i = 0; i < 2; ++i) {
      const Floats a = v[2 * i], b = v[2 * i + 1];
      v[i] = combine(_mm256_shuffle_ps(a, b, 0x44), _mm256_shuffle_ps(a, b, 0xee));
    }
    return combine(_mm256_permute2f128_ps(v[0], v[1], 0x20),
                   _mm256_permute2f128_ps(v[0], v[1], 0x31));
  }

  // Rows become columns: pairs, then fours, then halves of the register change places.
  static void transpose(Floats (&v)[kCount]) {
    Floats pairs[kCount];
    for (int i = 0; i < kCount; i += 2) {
      pairs[i] = _mm256_unpacklo_ps(v[i], v[i + 1]);
      pairs[i + 1] = _mm256_unpackhi_ps(v[i], v[i + 1]);
    }
    Floats fours[kCount];  // fours[4 * g + c]: lanes c and c + 4 of rows 4g to 4g + 3
    for (int i = 0; i < kCount; i += 4) {
      for (int low = 0; low < 2; ++low) {
        fours[i + 2 * low] = _mm256_shuffle_ps(pairs[i + low], pairs[i + 2 + low], 0x44);
        fours[i + 2 * low + 1] = _mm256_shuffle_ps(pairs[i + low], pairs[i + 2 + low], 0xee);
      }
    }
    for (int c = 0; c < 4; ++c) {
      v[c] = _mm256_permute2f128_ps(fours[c], fours[4 + c], 0x20);
      v[c + 4] = _mm256_permute2f128_ps(fours[c], fours[4 + c], 0x31);
    }
  }
};

}  // namespace

}  // namespace adjudge::kernel::avx2
