// Readers of the quantised formats: a block's codes, scales and offsets (kernel/blocks.h). Loops
// over bytes that every compiler turns into vectors; only look-ups and halves need a level's own
// words. Everything is static or unnamed: units of several levels include this and must share
// nothing.
#pragma once

#include <cstring>

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
#include "kernel/blocks.h"

namespace adjudge::kernel {

namespace {

// W: half, scale_eight, look_up and read_fives, see Lanes.
template <class W>
struct CodeReader {
  // What a nibble stands for, less kZero.
  template <int kZero>
  struct Nibbles {
    std::int8_t values[16];
    constexpr Nibbles() : values() {
      for (int i = 0; i < 16; ++i) values[i] = static_cast<std::int8_t>(i - kZero);
    }
  };

  // Low halves of 16 bytes, then their high halves, less kZero.
  template <int kZero>
  static void read_nibbles(const std::uint8_t* packed, std::int8_t* codes) {
    static constexpr Nibbles<kZero> kNibbles;
    W::look_up(kNibbles.values, packed, codes);
  }

  static void read_codes(const gguf::BlockQ4_0& block, std::int8_t* codes) {
    read_nibbles<8>(block.values, codes);
  }
  static void read_codes(const gguf::BlockQ4_1& block, std::int8_t* codes) {
    read_nibbles<0>(block.values, codes);
  }
  static void read_codes(const gguf::BlockQ5_0& block, std::int8_t* codes) {
    W::read_fives(block.values, block.high, 16, codes);
  }
  static void read_codes(const gguf::BlockQ5_1& block, std::int8_t* codes) {
    W::read_fives(block.values, block.high, 0, codes);
  }
  static void read_codes(const gguf::BlockQ8_0& block, std::int8_t* codes) {
    std::memcpy(codes, block.values, 32);
  }
  static void read_codes(const gguf::BlockIq4Nl& block, std::int8_t* codes) {
    W::look_up(gguf::kIq4Values, block.values, codes);
  }
  static void read_codes(const gguf::BlockIq4Xs& block, std::int8_t* codes) {
    for (int group = 0; group < 8; ++group) {
      W::look_up(gguf::kIq4Values, block.values + group * 16, codes + group * 32);
    }
  }

  static void read_codes(const gguf::BlockQ4_K& block, std::int8_t* codes) {
    for (int pair = 0; pair < 4; ++pair, codes += 64) {
      const std::uint8_t* packed = block.values + pair * 32;
      for (int i = 0; i < 32; ++i) codes[i] = static_cast<std::int8_t>(packed[i] & 15);
      for (int i = 0; i < 32; ++i) codes[i + 32] = static_cast<std::int8_t>(packed[i] >> 4);
    }
  }

  template <int kGroup>
  static void read_group(const gguf::BlockQ5_K& block, std::int8_t* codes) {
    const std::uint8_t* packed = block.values + kGroup / 2 * 32;
    for (int i = 0; i < 32; ++i) {
      const int fifth = block.high[i] >> kGroup & 1;
      codes[i] = static_cast<std::int8_t>((packed[i] >> kGroup % 2 * 4 & 15) | fifth << 4);
    }
    if constexpr (kGroup + 1 < 8) read_group<kGroup + 1>(block, codes + 32);
  }
  static void read_codes(const gguf::BlockQ5_K& block, std::int8_t* codes) {
    read_group<0>(block, codes);
  }

  template <int kQuarter>
  static void read_quarter(const gguf::BlockQ6_K& block, std::int8_t* codes) {
    constexpr int kHalf = kQuarter / 4, kPlace = kQuarter % 4;
    const std::uint8_t* low = block.low + kHalf * 64 + kPlace % 2 * 32;
    const std::uint8_t* high = block.high + kHalf * 32;
    for (int i = 0; i < 32; ++i) {
      const int code = (low[i] >> kPlace / 2 * 4 & 15) | (high[i] >> kPlace * 2 & 3) << 4;
      codes[i] = static_cast<std::int8_t>(code - 32);
    }
    if constexpr (kQuarter + 1 < 8) read_quarter<kQuarter + 1>(block, codes + 32);
  }
  static void read_codes(const gguf::BlockQ6_K& block, std::int8_t* codes) {
    read_quarter<0>(block, codes);
  }

  template <class Block>
  static void read_scales(const Block& block, float* scales, float*) {
    scales[0] = W::half(block.scale);
  }
  static void read_scales(const gguf::BlockQ4_1& block, float* scales, float* offsets) {
    scales[0] = W::half(block.scale);
    offsets[0] = W::half(block.offset);
  }
  static void read_scales(const gguf::BlockQ5_1& block, float* scales, float* offsets) {
    scales[0] = W::half(block.scale);
    offsets[0] = W::half(block.offset);
  }

  static void read_k_scales(const std::uint8_t* packed, float scale, float minimum, float* scales,
                            float* offsets) {
    const gguf::KScales groups = gguf::unpack_k_scales(packed);
    W::scale_eight(groups.scales, scale, scales);
    W::scale_eight(groups.minima, -minimum, offsets);
  }
  static void read_scales(const gguf::BlockQ4_K& block, float* scales, float* offsets) {
    read_k_scales(block.scales, W::half(block.scale), W::half(block.minimum), scales, offsets);
  }
  static void read_scales(const gguf::BlockQ5_K& block, float* scales, float* offsets) {
    read_k_scales(block.scales, W::half(block.scale), W::half(block.minimum), scales, offsets);
  }

  static void read_scales(const gguf::BlockQ6_K& block, float* scales, float*) {
    const float scale = W::half(block.scale);
    W::scale_eight(block.scales, scale, scales);
    W::scale_eight(block.scales + 8, scale, scales + 8);
  }

  static void read_scales(const gguf::BlockIq4Xs& block, float* scales, float*) {
    const float scale = W::half(block.scale);
    for (int group = 0; group < 8; ++group) {
      const int low = block.scales_low[group / 2] >> group % 2 * 4 & 15;
      const int high = block.scales_high >> group * 2 & 3;
      scales[group] = scale * static_cast<float>((low | high << 4) - 32);
    }
  }

  // `depth` inputs of blocks that start at `row`; a whole number of blocks.
  template <class Block>
  static void read_row(const Block* row, int depth, std::int8_t* codes) {
    for (int k = 0; k < depth; k += Block::kValues) read_codes(row[k / Block::kValues], codes + k);
  }
  template <class Block>
  static void read_row_scales(const Block* row, int depth, int part_count, float* scales,
                              float* offsets) {
    for (int k = 0; k < depth; k += Block::kValues) {
      const int block = k / kBlockInputs;
      read_scales(row[k / Block::kValues], scales + block * part_count, offsets + block);
    }
  }
};

}  // namespace

}  // namespace adjudge::kernel
