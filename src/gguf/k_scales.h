// The eight 6-bit scales and eight 6-bit minima that Q4_K and Q5_K pack into 12 bytes.
#pragma once

#include <cstdint>

namespace adjudge::gguf {

struct KScales {
  std::uint8_t scales[8];
  std::uint8_t minima[8];
};

// Bytes 0-3 hold scales 0-3 in their low six bits, bytes 4-7 minima 0-3. Numbers 4-7 are split:
// their low four bits share bytes 8-11, their upper two are the top bits of bytes 0-7.
static inline KScales unpack_k_scales(const std::uint8_t* packed) {
  KScales out;
  for (int i = 0; i < 4; ++i) {
    out.scales[i] = packed[i] & 63;
    out.minima[i] = packed[i + 4] & 63;
    out.scales[i + 4] = static_cast<std::uint8_t>((packed[i + 8] & 15) | (packed[i] >> 6 << 4));
    out.minima[i + 4] = static_cast<std::uint8_t>((packed[i + 8] >> 4) | (packed[i + 4] >> 6 << 4));
  }
  return out;
}

}  // namespace adjudge::gguf
