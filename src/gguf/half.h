// 16-bit floats: IEEE half precision and bfloat16. Static inline, because units compiled for
// different instruction sets include it and must not share one copy.
#pragma once

#include <cstdint>
#include <cstring>

namespace adjudge::gguf {

static inline float float_of_bits(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

static inline std::uint32_t bits_of_float(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

// Exact: every half is a float.
static inline float float_of_half(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  const std::uint32_t exponent = (half >> 10) & 31u;
  const std::uint32_t fraction = half & 1023u;
  if (exponent == 0) {  // zero and subnormals: fraction * 2^-24
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  // 112 is the difference of the two exponent biases; 31 means infinity or NaN, as 255 does.
  const std::uint32_t wide_exponent = exponent == 31 ? 255u : exponent + 112u;
  return float_of_bits(sign | (wide_exponent << 23) | (fraction << 13));
}

// To the nearest, ties to even; what is too large becomes infinity, a NaN stays one.
static inline std::uint16_t half_of_float(float value) {
  const std::uint32_t bits = bits_of_float(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  std::uint32_t half;
  if (magnitude > 0x7f800000u) {
    half = 0x7e00u;
  } else if (magnitude >= 0x477ff000u) {  // 65520, halfway between the largest half and infinity
    half = 0x7c00u;
  } else if (magnitude >= 0x38800000u) {  // 2^-14, the smallest normal half
    half = (magnitude - (112u << 23) + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  } else {
    // Below, halves are multiples of 2^-24, and so are the floats of [0.5, 1): adding 0.5 rounds.
    half = bits_of_float(float_of_bits(magnitude) + 0.5f) - 0x3f000000u;
  }
  return static_cast<std::uint16_t>(sign | half);
}

// Exact: a bfloat16 is the upper half of a float.
static inline float float_of_bf16(std::uint16_t value) {
  return float_of_bits(static_cast<std::uint32_t>(value) << 16);
}

// To the nearest, ties to even; a NaN stays one.
static inline std::uint16_t bf16_of_float(float value) {
  const std::uint32_t bits = bits_of_float(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((bits >> 16) | 64u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace adjudge::gguf
