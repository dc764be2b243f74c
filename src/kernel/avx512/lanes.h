// Sixteen f32 lanes: the words in which kernel/simd/ is written, for AVX-512.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace adjudge::kernel::avx512 {

namespace {

struct Lanes {
  static constexpr int kCount = 16;
  // 12 rows by 2 vectors are 24 of the 32 registers; 24 multiply-adds need 14 loads, and hide
  // their latency of 4 at two a cycle three times over.
  static constexpr int kTileRows = 12;
  // The delta rule keeps four sums per vector of columns: 16 of 32 registers, and each input spread
  // over a vector serves four.
  static constexpr int kDeltaVectors = 4;
  using Floats = __m512;
  using Ints = __m512i;

  static Floats zero() { return _mm512_setzero_ps(); }
  static Floats all(float value) { return _mm512_set1_ps(value); }
  static __mmask16 first(int count) {
    return static_cast<__mmask16>(count >= kCount ? 0xffffu : (1u << count) - 1);
  }
  static Floats load(const void* from) { return _mm512_loadu_ps(from); }
  static Floats load(const float* from, int count) {  // zeros behind
    return _mm512_maskz_loadu_ps(first(count), from);
  }
  static void store(float* to, Floats v) { _mm512_storeu_ps(to, v); }
  static void store(float* to, Floats v, int count) { _mm512_mask_storeu_ps(to, first(count), v); }

  static Floats add(Floats a, Floats b) { return _mm512_add_ps(a, b); }
  static Floats sub(Floats a, Floats b) { return _mm512_sub_ps(a, b); }
  static Floats mul(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
  static Floats div(Floats a, Floats b) { return _mm512_div_ps(a, b); }
  static Floats fma(Floats a, Floats b, Floats sum) { return _mm512_fmadd_ps(a, b, sum); }
  static Floats fnma(Floats a, Floats b, Floats sum) { return _mm512_fnmadd_ps(a, b, sum); }
  // The second operand where either is not a number.
  static Floats max(Floats a, Floats b) { return _mm512_max_ps(a, b); }
  static Floats min(Floats a, Floats b) { return _mm512_min_ps(a, b); }
  static float sum(Floats v) { return _mm512_reduce_add_ps(v); }
  static float largest(Floats v) { return _mm512_reduce_max_ps(v); }
  // v where lane < count, else `other`.
  static Floats first_or(Floats v, int count, Floats other) {
    return _mm512_mask_mov_ps(other, first(count), v);
  }
  static Floats round(Floats v) {
    return _mm512_roundscale_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
  // v * 2^n for whole n, with gradual underflow.
  static Floats scale(Floats v, Floats n) { return _mm512_scalef_ps(v, n); }

  static float half(std::uint16_t bits) {
    return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(bits)));
  }
  static Floats load_half(const void* from) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i*>(from)));
  }
  static Floats load_bf16(const void* from) {
    const __m256i bits = _mm256_loadu_si256(static_cast<const __m256i*>(from));
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
  }

  static Ints load_u8(const std::uint8_t* from) {
    return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  static Ints load_i8(const std::int8_t* from) {
    return _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  static Ints all_bits(std::uint32_t bits) { return _mm512_set1_epi32(static_cast<int>(bits)); }
  static Floats flip_bits(Floats v, std::uint32_t bits) {
    return _mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(v), all_bits(bits)));
  }
  static Ints bits_and(Ints a, Ints b) { return _mm512_and_si512(a, b); }
  static Ints bits_or(Ints a, Ints b) { return _mm512_or_si512(a, b); }
  static Ints right(Ints v, int shift) { return _mm512_srl_epi32(v, _mm_cvtsi32_si128(shift)); }
  static Ints left(Ints v, int shift) { return _mm512_sll_epi32(v, _mm_cvtsi32_si128(shift)); }
  // Lane i shifted right by i.
  static Ints right_by_lane(Ints v) {
    return _mm512_srlv_epi32(
        v, _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  }
  static Floats floats(Ints v) { return _mm512_cvtepi32_ps(v); }
  // table[index] for indices below 16.
  static Floats look_up(const float* table, Ints index) {
    return _mm512_permutexvar_ps(index, _mm512_loadu_ps(table));
  }

  // Whole numbers, for kernel/simd/blocks.h.
  static Ints load_ints(const void* from) { return _mm512_loadu_si512(from); }
  static void store_ints(void* to, Ints v) { _mm512_storeu_si512(to, v); }
  static Ints all_words(const void* from) {  // four bytes, over and over
    std::int32_t word;
    std::memcpy(&word, from, sizeof(word));
    return _mm512_set1_epi32(word);
  }
  static Ints ints_of(Floats v) { return _mm512_castps_si512(v); }
  static Floats as_floats(Ints v) { return _mm512_castsi512_ps(v); }
  static Ints rounded(Floats v) { return _mm512_cvtps_epi32(v); }
  static Ints max_bits(Ints a, Ints b) { return _mm512_max_epu32(a, b); }
  static float largest_bits(Ints v) {
    return _mm_cvtss_f32(
        _mm_castsi128_ps(_mm_cvtsi32_si128(static_cast<int>(_mm512_reduce_max_epu32(v)))));
  }
  static std::int32_t sum_ints(Ints v) { return _mm512_reduce_add_epi32(v); }
  static void store_i8(std::int8_t* to, Ints v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8(v));
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
    const __m256i fives = _mm256_or_si256(nibbles, _mm256_maskz_set1_epi8(high, 16));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(codes),
                        _mm256_sub_epi8(fives, _mm256_set1_epi8(zero)));
  }

  // Lane i: all lanes of v[i] combined. Of two registers one is left, half as many times each.
  template <class Combine>
  static Floats combine_lanes(Floats (&v)[kCount], const Combine& combine) {
    for (int i = 0; i < 8; ++i) {
      const Floats a = v[2 * i], b = v[2 * i + 1];
      v[i] = combine(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
    }
    for (int i = 0; i < 4; ++i) {
      const __m512d a = _mm512_castps_pd(v[2 * i]), b = _mm512_castps_pd(v[2 * i + 1]);
      v[i] = combine(_mm512_castpd_ps(_mm512_unpacklo_pd(a, b)),
                     _mm512_castpd_ps(_mm512_unpackhi_pd(a, b)));
    }
    for (int count = 2; count > 0; --count) {
      for (int i = 0; i < count; ++i) {
        const Floats a = v[2 * i], b = v[2 * i + 1];
        v[i] = combine(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xdd));
      }
    }
    return v[0];
  }

  // Rows become columns: pairs, then fours, then quarters of the register change places.
  static void transpose(Floats (&v)[kCount]) {
    Floats pairs[kCount];
    for (int i = 0; i < kCount; i += 2) {
      pairs[i] = _mm512_unpacklo_ps(v[i], v[i + 1]);
      pairs[i + 1] = _mm512_unpackhi_ps(v[i], v[i + 1]);
    }
    Floats fours[kCount];  // fours[4 * g + c]: lanes c, c + 4, c + 8, c + 12 of rows 4g to 4g + 3
    for (int i = 0; i < kCount; i += 4) {
      for (int low = 0; low < 2; ++low) {
        const __m512d a = _mm512_castps_pd(pairs[i + low]);
        const __m512d b = _mm512_castps_pd(pairs[i + 2 + low]);
        fours[i + 2 * low] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
        fours[i + 2 * low + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
      }
    }
    for (int c = 0; c < 4; ++c) {
      const Floats even_low = _mm512_shuffle_f32x4(fours[c], fours[4 + c], 0x88);
      const Floats odd_low = _mm512_shuffle_f32x4(fours[c], fours[4 + c], 0xdd);
      const Floats even_high = _mm512_shuffle_f32x4(fours[8 + c], fours[12 + c], 0x88);
      const Floats odd_high = _mm512_shuffle_f32x4(fours[8 + c], fours[12 + c], 0xdd);
      v[c] = _mm512_shuffle_f32x4(even_low, even_high, 0x88);
      v[c + 4] = _mm512_shuffle_f32x4(odd_low, odd_high, 0x88);
      v[c + 8] = _mm512_shuffle_f32x4(even_low, even_high, 0xdd);
      v[c + 12] = _mm512_shuffle_f32x4(odd_low, odd_high, 0xdd);
    }
  }
};

}  // namespace

}  // namespace adjudge::kernel::avx512
