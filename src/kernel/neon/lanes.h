// Four f32 lanes: the words in which kernel/simd/ is written, for NEON.
#pragma once

#include <arm_neon.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace adjudge::kernel::neon {

namespace {

struct Lanes {
  static constexpr int kCount = 4;
  static constexpr int kDeltaVectors = 4;  // four sums each: 16 of the 32 registers
  using Floats = float32x4_t;
  using Ints = int32x4_t;

  static Floats zero() { return vdupq_n_f32(0); }
  static Floats all(float value) { return vdupq_n_f32(value); }
  static Floats load(const void* from) { return vld1q_f32(static_cast<const float*>(from)); }
  static Floats load(const float* from, int count) {  // zeros behind
    float lanes[kCount] = {};
    for (int i = 0; i < count; ++i) lanes[i] = from[i];
    return vld1q_f32(lanes);
  }
  static void store(float* to, Floats v) { vst1q_f32(to, v); }
  static void store(float* to, Floats v, int count) {
    float lanes[kCount];
    vst1q_f32(lanes, v);
    for (int i = 0; i < count; ++i) to[i] = lanes[i];
  }

  static Floats add(Floats a, Floats b) { return vaddq_f32(a, b); }
  static Floats sub(Floats a, Floats b) { return vsubq_f32(a, b); }
  static Floats mul(Floats a, Floats b) { return vmulq_f32(a, b); }
  static Floats div(Floats a, Floats b) { return vdivq_f32(a, b); }
  static Floats fma(Floats a, Floats b, Floats sum) { return vfmaq_f32(sum, a, b); }
  static Floats fnma(Floats a, Floats b, Floats sum) { return vfmsq_f32(sum, a, b); }
  // Not a number where either is none.
  static Floats max(Floats a, Floats b) { return vmaxq_f32(a, b); }
  static Floats min(Floats a, Floats b) { return vminq_f32(a, b); }
  static float sum(Floats v) { return vaddvq_f32(v); }
  static float largest(Floats v) { return vmaxvq_f32(v); }
  // v where lane < count, else `other`.
  static Floats first_or(Floats v, int count, Floats other) {
    static constexpr std::int32_t kOrder[kCount] = {0, 1, 2, 3};
    return vbslq_f32(vcltq_s32(vld1q_s32(kOrder), vdupq_n_s32(count)), v, other);
  }
  static Floats round(Floats v) { return vrndnq_f32(v); }
  // v * 2^n for whole n of [-252, 252], with gradual underflow: a factor alone would leave the
  // exponents there are, so it is taken in two.
  static Floats scale(Floats v, Floats n) {
    const Ints whole = vcvtnq_s32_f32(n);
    const Ints half = vshrq_n_s32(whole, 1);
    return mul(mul(v, power_of_two(half)), power_of_two(vsubq_s32(whole, half)));
  }
  static Floats power_of_two(Ints n) {
    return vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(n, vdupq_n_s32(127)), 23));
  }

  static float half(std::uint16_t bits) {
    return vgetq_lane_f32(vcvt_f32_f16(vreinterpret_f16_u16(vdup_n_u16(bits))), 0);
  }
  static Floats load_half(const void* from) {
    return vcvt_f32_f16(vreinterpret_f16_u16(words(from)));
  }
  static Floats load_bf16(const void* from) {
    return vreinterpretq_f32_u32(vshll_n_u16(words(from), 16));
  }
  static uint16x4_t words(const void* from) {
    return vreinterpret_u16_u8(vld1_u8(static_cast<const std::uint8_t*>(from)));
  }

  static uint8x8_t four_bytes(const void* from) {
    std::uint32_t word;
    std::memcpy(&word, from, sizeof(word));
    return vreinterpret_u8_u32(vdup_n_u32(word));
  }
  static Ints load_u8(const std::uint8_t* from) {
    return vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(vmovl_u8(four_bytes(from)))));
  }
  static Ints load_i8(const std::int8_t* from) {
    return vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_u8(four_bytes(from)))));
  }
  static Ints all_bits(std::uint32_t bits) { return vreinterpretq_s32_u32(vdupq_n_u32(bits)); }
  static Floats flip_bits(Floats v, std::uint32_t bits) {
    return vreinterpretq_f32_s32(veorq_s32(vreinterpretq_s32_f32(v), all_bits(bits)));
  }
  static Ints bits_and(Ints a, Ints b) { return vandq_s32(a, b); }
  static Ints bits_or(Ints a, Ints b) { return vorrq_s32(a, b); }
  static Ints left(Ints v, int shift) { return vshlq_s32(v, vdupq_n_s32(shift)); }
  static Ints right(Ints v, int shift) { return right(v, vdupq_n_s32(-shift)); }
  static Ints right(Ints v, Ints shifts) {  // to the left by what is positive; zeros come in
    return vreinterpretq_s32_u32(vshlq_u32(vreinterpretq_u32_s32(v), shifts));
  }
  // Lane i shifted right by i.
  static Ints right_by_lane(Ints v) {
    static constexpr std::int32_t kShifts[kCount] = {0, -1, -2, -3};
    return right(v, vld1q_s32(kShifts));
  }
  static Floats floats(Ints v) { return vcvtq_f32_s32(v); }
  // table[index] for indices below 16, byte by byte: 4 * index + 0, 1, 2, 3.
  static Floats look_up(const float* table, Ints index) {
    const Ints bytes = vmlaq_n_s32(vdupq_n_s32(0x03020100), index, 0x04040404);
    const uint8x16x4_t values = vld1q_u8_x4(reinterpret_cast<const std::uint8_t*>(table));
    return vreinterpretq_f32_u8(vqtbl4q_u8(values, vreinterpretq_u8_s32(bytes)));
  }

  // Whole numbers, for kernel/simd/blocks.h.
  static Ints load_ints(const void* from) {
    return vreinterpretq_s32_u8(vld1q_u8(static_cast<const std::uint8_t*>(from)));
  }
  static void store_ints(std::int32_t* to, Ints v) { vst1q_s32(to, v); }
  static Ints all_words(const void* from) {  // four bytes, over and over
    std::int32_t word;
    std::memcpy(&word, from, sizeof(word));
    return vdupq_n_s32(word);
  }
  static Ints ints_of(Floats v) { return vreinterpretq_s32_f32(v); }
  static Floats as_floats(Ints v) { return vreinterpretq_f32_s32(v); }
  static Ints rounded(Floats v) { return vcvtnq_s32_f32(v); }
  static Ints max_bits(Ints a, Ints b) {
    return vreinterpretq_s32_u32(vmaxq_u32(vreinterpretq_u32_s32(a), vreinterpretq_u32_s32(b)));
  }
  static float largest_bits(Ints v) {
    const std::uint32_t bits = vmaxvq_u32(vreinterpretq_u32_s32(v));
    return vget_lane_f32(vreinterpret_f32_u32(vdup_n_u32(bits)), 0);
  }
  static std::int32_t sum_ints(Ints v) { return vaddvq_s32(v); }
  static void store_i8(std::int8_t* to, Ints v) {
    const int16x4_t words = vmovn_s32(v);
    const int8x8_t bytes = vmovn_s16(vcombine_s16(words, words));
    const std::int32_t four = vget_lane_s32(vreinterpret_s32_s8(bytes), 0);
    std::memcpy(to, &four, sizeof(four));
  }
  // out = factor * bytes, eight of them.
  static void scale_eight(const std::uint8_t* bytes, float factor, float* out) {
    store(out, mul(floats(load_u8(bytes)), all(factor)));
    store(out + kCount, mul(floats(load_u8(bytes + kCount)), all(factor)));
  }
  static void scale_eight(const std::int8_t* bytes, float factor, float* out) {
    store(out, mul(floats(load_i8(bytes)), all(factor)));
    store(out + kCount, mul(floats(load_i8(bytes + kCount)), all(factor)));
  }
  // Low halves of 16 bytes, then their high halves, through a table of 16.
  static void look_up(const std::int8_t* table, const std::uint8_t* packed, std::int8_t* codes) {
    const int8x16_t values = vld1q_s8(table);
    const uint8x16_t bytes = vld1q_u8(packed);
    vst1q_s8(codes, vqtbl1q_s8(values, vandq_u8(bytes, vdupq_n_u8(15))));
    vst1q_s8(codes + 16, vqtbl1q_s8(values, vshrq_n_u8(bytes, 4)));
  }
  // Low halves of 16 bytes, then their high halves, with bit i of `high` as the fifth bit of code
  // i; less `zero`.
  static void read_fives(const std::uint8_t* packed, std::uint32_t high, std::int8_t zero,
                         std::int8_t* codes) {
    const uint8x16_t bytes = vld1q_u8(packed);
    put_fives(vandq_u8(bytes, vdupq_n_u8(15)), high, zero, codes);
    put_fives(vshrq_n_u8(bytes, 4), high >> 16, zero, codes + 16);
  }
  static void put_fives(uint8x16_t nibbles, std::uint32_t high, std::int8_t zero,
                        std::int8_t* codes) {
    // Each byte of `high` eight times, and of each its own bit.
    const auto byte = [=](int shift) {
      return vdup_n_u8(static_cast<std::uint8_t>(high >> shift));
    };
    const uint8x16_t own_byte = vcombine_u8(byte(0), byte(8));
    const uint8x16_t bit = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201));
    const uint8x16_t fifths = vandq_u8(vtstq_u8(own_byte, bit), vdupq_n_u8(16));
    const int8x16_t fives = vreinterpretq_s8_u8(vorrq_u8(nibbles, fifths));
    vst1q_s8(codes, vsubq_s8(fives, vdupq_n_s8(zero)));
  }

  // Lane i: all lanes of v[i] combined. Of two registers one is left, half as many times each.
  template <class Combine>
  static Floats combine_lanes(Floats (&v)[kCount], const Combine& combine) {
    float64x2_t pairs[2];
    for (int i = 0; i < 2; ++i) {
      const Floats a = v[2 * i], b = v[2 * i + 1];
      pairs[i] = vreinterpretq_f64_f32(combine(vtrn1q_f32(a, b), vtrn2q_f32(a, b)));
    }
    return combine(vreinterpretq_f32_f64(vtrn1q_f64(pairs[0], pairs[1])),
                   vreinterpretq_f32_f64(vtrn2q_f64(pairs[0], pairs[1])));
  }

  // Rows become columns: pairs, then halves of the register change places.
  static void transpose(Floats (&v)[kCount]) {
    const float64x2_t even[] = {vreinterpretq_f64_f32(vtrn1q_f32(v[0], v[1])),
                                vreinterpretq_f64_f32(vtrn1q_f32(v[2], v[3]))};
    const float64x2_t odd[] = {vreinterpretq_f64_f32(vtrn2q_f32(v[0], v[1])),
                               vreinterpretq_f64_f32(vtrn2q_f32(v[2], v[3]))};
    v[0] = vreinterpretq_f32_f64(vtrn1q_f64(even[0], even[1]));
    v[1] = vreinterpretq_f32_f64(vtrn1q_f64(odd[0], odd[1]));
    v[2] = vreinterpretq_f32_f64(vtrn2q_f64(even[0], even[1]));
    v[3] = vreinterpretq_f32_f64(vtrn2q_f64(odd[0], odd[1]));
  }
};

}  // namespace

}  // namespace adjudge::kernel::neon
