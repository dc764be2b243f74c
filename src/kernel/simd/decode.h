// Decoders of the weight formats along a row, written in a level's lanes (its lanes.h). Every value
// has the bits of the scalar decoder in gguf/: products of a scale and a small integer are exact
// or rounded once in both.
// Everything is static or unnamed: units of several levels include this and must share nothing.
#pragma once

#include "gguf/dtype_bf16.h"
#include "gguf/dtype_f16.h"
#include "gguf/dtype_f32.h"
#include "gguf/dtype_iq4_nl.h"
#include "gguf/dtype_iq4_xs.h"
#include "gguf/dtype_q4_0.h"
#include "gguf/dtype_q4_1.h"
#include "gguf/dtype_q4_k.h"
#include "gguf/dtype_q5_0.h"
#include "gguf/dtype_q5_1.h"
#include "gguf/dtype_q5_k.h"
#include "gguf/dtype_q6_k.h"
#include "gguf/dtype_q8_0.h"

namespace adjudge::kernel {

namespace {

template <class V>
struct Decoder {
  using Floats = typename V::Floats;
  using Ints = typename V::Ints;

  static Ints low_nibbles(const std::uint8_t* bytes) {
    return V::bits_and(V::load_u8(bytes), V::all_bits(15));
  }
  static Ints high_nibbles(const std::uint8_t* bytes) { return V::right(V::load_u8(bytes), 4); }

  // value * scale + offset, rounded once: the product of a half and at most 8 bits is exact.
  static void put(float* out, Ints values, Floats scale, Floats offset) {
    V::store(out, V::fma(V::floats(values), scale, offset));
  }
  // (value + shift) * scale
  static void put_shifted(float* out, Ints values, float shift, Floats scale) {
    V::store(out, V::mul(V::add(V::floats(values), V::all(shift)), scale));
  }

  // Bits first + i of `bits` as bit 4 of lane i: the fifth bits of Q5_0 and Q5_1.
  static Ints fifth_bits(std::uint32_t bits, int first) {
    const Ints spread = V::right_by_lane(V::all_bits(bits >> first));
    return V::left(V::bits_and(spread, V::all_bits(1)), 4);
  }

  static void decode(const gguf::BlockQ4_0& block, float* out) {
    const Floats scale = V::all(V::half(block.scale));
    for (int i = 0; i < 16; i += V::kCount) {
      put_shifted(out + i, low_nibbles(block.values + i), -8, scale);
      put_shifted(out + i + 16, high_nibbles(block.values + i), -8, scale);
    }
  }

  static void decode(const gguf::BlockQ4_1& block, float* out) {
    const Floats scale = V::all(V::half(block.scale)), offset = V::all(V::half(block.offset));
    for (int i = 0; i < 16; i += V::kCount) {
      put(out + i, low_nibbles(block.values + i), scale, offset);
      put(out + i + 16, high_nibbles(block.values + i), scale, offset);
    }
  }

  static void decode(const gguf::BlockQ5_0& block, float* out) {
    const Floats scale = V::all(V::half(block.scale));
    for (int i = 0; i < 16; i += V::kCount) {
      const Ints first = V::bits_or(low_nibbles(block.values + i), fifth_bits(block.high, i));
      const Ints last = V::bits_or(high_nibbles(block.values + i), fifth_bits(block.high, i + 16));
      put_shifted(out + i, first, -16, scale);
      put_shifted(out + i + 16, last, -16, scale);
    }
  }

  static void decode(const gguf::BlockQ5_1& block, float* out) {
    const Floats scale = V::all(V::half(block.scale)), offset = V::all(V::half(block.offset));
    for (int i = 0; i < 16; i += V::kCount) {
      const Ints first = V::bits_or(low_nibbles(block.values + i), fifth_bits(block.high, i));
      const Ints last = V::bits_or(high_nibbles(block.values + i), fifth_bits(block.high, i + 16));
      put(out + i, first, scale, offset);
      put(out + i + 16, last, scale, offset);
    }
  }

  static void decode(const gguf::BlockQ8_0& block, float* out) {
    const Floats scale = V::all(V::half(block.scale));
    for (int i = 0; i < 32; i += V::kCount) {
      V::store(out + i, V::mul(V::floats(V::load_i8(block.values + i)), scale));
    }
  }

  static void decode(const gguf::BlockQ4_K& block, float* out) {
    const float scale = V::half(block.scale), minimum = -V::half(block.minimum);
    const gguf::KScales groups = gguf::unpack_k_scales(block.scales);
    for (int pair = 0; pair < 4; ++pair) {
      const Floats low_scale = V::all(scale * groups.scales[2 * pair]);
      const Floats low_minimum = V::all(minimum * groups.minima[2 * pair]);
      const Floats high_scale = V::all(scale * groups.scales[2 * pair + 1]);
      const Floats high_minimum = V::all(minimum * groups.minima[2 * pair + 1]);
      for (int i = 0; i < 32; i += V::kCount) {
        const std::uint8_t* bytes = block.values + pair * 32 + i;
        put(out + pair * 64 + i, low_nibbles(bytes), low_scale, low_minimum);
        put(out + pair * 64 + 32 + i, high_nibbles(bytes), high_scale, high_minimum);
      }
    }
  }

  static void decode(const gguf::BlockQ5_K& block, float* out) {
    const float scale = V::half(block.scale), minimum = -V::half(block.minimum);
    const gguf::KScales groups = gguf::unpack_k_scales(block.scales);
    for (int group = 0; group < 8; ++group) {
      const Floats group_scale = V::all(scale * groups.scales[group]);
      const Floats group_minimum = V::all(minimum * groups.minima[group]);
      for (int i = 0; i < 32; i += V::kCount) {
        const Ints bytes = V::right(V::load_u8(block.values + group / 2 * 32 + i), group % 2 * 4);
        const Ints high = V::bits_and(V::right(V::load_u8(block.high + i), group), V::all_bits(1));
        const Ints low = V::bits_and(bytes, V::all_bits(15));
        put(out + group * 32 + i, V::bits_or(low, V::left(high, 4)), group_scale, group_minimum);
      }
    }
  }

  static void decode(const gguf::BlockQ6_K& block, float* out) {
    const float scale = V::half(block.scale);
    for (int quarter = 0; quarter < 8; ++quarter) {
      const int half = quarter / 4, place = quarter % 4;
      const std::uint8_t* low = block.low + half * 64 + place % 2 * 32;
      const std::uint8_t* high = block.high + half * 32;
      for (int i = 0; i < 32; i += V::kCount) {
        const Floats group_scale = V::all(scale * block.scales[quarter * 2 + i / 16]);
        const Ints four =
            V::bits_and(V::right(V::load_u8(low + i), place / 2 * 4), V::all_bits(15));
        const Ints two = V::bits_and(V::right(V::load_u8(high + i), place * 2), V::all_bits(3));
        put_shifted(out + quarter * 32 + i, V::bits_or(four, V::left(two, 4)), -32, group_scale);
      }
    }
  }

  // gguf::kIq4Values as floats.
  static constexpr float kIq4Floats[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                           1,    13,   25,  38,  53,  69,  89,  113};

  static void decode_iq4(const std::uint8_t* values, Floats scale, float* out) {
    for (int i = 0; i < 16; i += V::kCount) {
      const Floats low = V::look_up(kIq4Floats, low_nibbles(values + i));
      const Floats high = V::look_up(kIq4Floats, high_nibbles(values + i));
      V::store(out + i, V::mul(scale, low));
      V::store(out + i + 16, V::mul(scale, high));
    }
  }

  static void decode(const gguf::BlockIq4Nl& block, float* out) {
    decode_iq4(block.values, V::all(V::half(block.scale)), out);
  }

  static void decode(const gguf::BlockIq4Xs& block, float* out) {
    const float scale = V::half(block.scale);
    for (int group = 0; group < 8; ++group) {
      const int low = block.scales_low[group / 2] >> group % 2 * 4 & 15;
      const int high = block.scales_high >> group * 2 & 3;
      const float group_scale = scale * static_cast<float>((low | high << 4) - 32);
      decode_iq4(block.values + group * 16, V::all(group_scale), out + group * 32);
    }
  }

  // `count` values of blocks that start at `row`; a whole number of blocks.
  template <class Block>
  static void decode_row(const std::byte* row, int count, float* out) {
    const auto* blocks = reinterpret_cast<const Block*>(row);
    for (int i = 0; i * Block::kValues < count; ++i) decode(blocks[i], out + i * Block::kValues);
  }
};

// The plain floats: any count, what is left over goes through the scalar decoder.
template <class V>
struct PlainDecoder {
  static typename V::Floats load(const gguf::BlockF32* from) { return V::load(from); }
  static typename V::Floats load(const gguf::BlockF16* from) { return V::load_half(from); }
  static typename V::Floats load(const gguf::BlockBf16* from) { return V::load_bf16(from); }
  static float one(const gguf::BlockF32& block) { return block.value; }
  static float one(const gguf::BlockF16& block) { return V::half(block.value); }
  static float one(const gguf::BlockBf16& block) { return gguf::float_of_bf16(block.value); }

  template <class Block>
  static void decode_row(const std::byte* row, int count, float* out) {
    const auto* values = reinterpret_cast<const Block*>(row);
    int i = 0;
    for (; i + V::kCount <= count; i += V::kCount) V::store(out + i, load(values + i));
    for (; i < count; ++i) out[i] = one(values[i]);
  }
};

}  // namespace

}  // namespace adjudge::kernel
