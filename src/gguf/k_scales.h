// The eight 6-bit scales and eight 6-bit minima that Q4_K and Q5_K pack into 12 bytes.
#pragma once

#include <cstdint>
#include <cstring>

namespace adjudge::gguf {

struct KScales {
  std::uint8_t scales[8];
  std::uint8_t minima[8];
};

// Bytes 0-3 hold scales 0-3 in their low six bits, bytes 4-7 minima 0-3. Numbers 4-7 are split:
// their low four bits share bytes 8-11, their upper two are the top bits of bytes 0-7. Four bytes
// are taken at a time; no bit leaves its byte.
static inline KScales unpack_k_scales(const std::uint8_t* packed) {
  std::uint32_t words[3];
  std::memcpy(words, packed, sizeof(words));
  const std::uint32_t tops[2] = {(words[0] & 0xc0c0c0c0u) >> 2, (words[1] & 0xc0c0c0c0u) >> 2};
  const std::uint32_t scales[2] = {words[0] & 0x3f3f3f3fu, (words[2] & 0x0f0f0f0fu) | tops[0]};
  const std::uint32_t minima[2] = {words[1] & 0x3f3f3f3fu, (words[2] >> 4 & 0x0f0f0f0fu) | tops[1]};
  KScales out;
  std::memcpy(out.scales, scales, sizeof(scales));
  std::memcpy(out.minima, minima, sizeof(minima));
  return out;
}

}  // namespace adjudge::gguf
