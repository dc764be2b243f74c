// Weight rows of any format made of random bytes, for tests.
#pragma once

#include <cmath>
#include <cstring>
#include <vector>

#include "base/size.h"
#include "gguf/dtype.h"
#include "support/support.h"

namespace adjudge::testing {

struct StoredRows {
  const gguf::DTypeTraits& traits;
  int columns;
  std::vector<std::byte> bytes;
  std::size_t row_bytes;

  StoredRows(const gguf::DTypeTraits& format, int rows, int width)
      : traits(format),
        columns(width),
        bytes(random_bytes(format, rows, width)),
        row_bytes(at(width / format.block_values) * at(format.block_bytes)) {}

  // A row as floats, by the format's own decoder.
  std::vector<float> row(int index) const {
    std::vector<float> values(at(columns));
    traits.decode(bytes.data() + at(index) * row_bytes, at(columns / traits.block_values),
                  values.data());
    return values;
  }

 private:
  // The 16-bit floats among the bytes are made small and finite by their upper byte.
  static std::vector<std::byte> random_bytes(const gguf::DTypeTraits& traits, int rows, int width) {
    const std::size_t count = at(rows) * at(width / traits.block_values) * at(traits.block_bytes);
    std::vector<std::byte> made;
    for (const float value : bell(traits.name, count)) {
      made.push_back(static_cast<std::byte>(static_cast<int>(std::abs(value) * 4096) & 255));
    }
    if (traits.type == gguf::DType::f32) {
      const std::vector<float> values = bell("f32", at(rows * width));
      std::memcpy(made.data(), values.data(), made.size());
      return made;
    }
    for (std::size_t block = 0; block < count; block += at(traits.block_bytes)) {
      const auto tame = [&](int offset) { made[block + at(offset)] &= std::byte{0xbb}; };
      if (traits.type == gguf::DType::q6_K) {
        tame(209);
      } else {
        tame(1);
        if (traits.block_bytes > 3) tame(3);
      }
    }
    return made;
  }
};

}  // namespace adjudge::testing
