// Weights in memory, for tests: matrices of any format made from random bytes or given floats.
#pragma once

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "base/size.h"
#include "nn/context.h"

namespace adjudge {

class FakeWeights final : public WeightSource {
 public:
  Matrix add(std::span<const float> values, int rows, int columns) {
    std::vector<std::byte> bytes(values.size_bytes());
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return add(gguf::DType::f32, std::move(bytes), rows, columns);
  }

  Matrix add(gguf::DType type, std::vector<std::byte> bytes, int rows, int columns) {
    stored_.push_back(std::move(bytes));
    return {.type = type,
            .rows = rows,
            .columns = columns,
            .row_bytes = stored_.back().size() / at(rows),
            .handle = count_of(stored_) - 1};
  }

  // A row as floats, by the format's own decoder.
  std::vector<float> row(const Matrix& matrix, int index) const {
    const gguf::DTypeTraits& traits = gguf::traits_of(matrix.type);
    std::vector<float> values(at(matrix.columns));
    traits.decode(acquire(matrix, index, 1), at(matrix.columns / traits.block_values),
                  values.data());
    return values;
  }

  Result<Matrix> matrix(std::string_view, int, int) override { return no_names(); }
  Result<std::vector<Matrix>> matrices(std::string_view, int, int, int) override {
    return no_names();
  }
  bool has(std::string_view) const override { return false; }
  Result<std::span<const float>> vector(std::string_view, int) override { return no_names(); }
  const std::byte* acquire(const Matrix& matrix, int begin, int) const override {
    return stored_[at(matrix.handle)].data() + at(matrix.first_row + begin) * matrix.row_bytes;
  }
  void release(const Matrix&, int, int) const override {}
  std::size_t bytes() const override { return 0; }

 private:
  static Error no_names() { return Error{ErrorKind::internal, "fake weights have no names"}; }
  std::vector<std::vector<std::byte>> stored_;
};

}  // namespace adjudge
