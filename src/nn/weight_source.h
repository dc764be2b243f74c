// Where weights come from. Networks hold Matrix handles and ask a WeightSource for the rows they
// are about to multiply; they may not assume that a matrix is in memory, packed, or stays where it
// was.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "adjudge/result.h"
#include "base/aligned.h"
#include "gguf/file.h"

namespace adjudge {

// A matrix of `rows` outputs by `columns` inputs in some weight format. A stack of experts is one
// matrix per expert.
struct Matrix {
  gguf::DType type = gguf::DType::f32;
  int rows = 0;
  int columns = 0;
  std::size_t row_bytes = 0;
  int handle = -1;    // the source's own
  int first_row = 0;  // of the stored matrix, when this is a part of it
  bool present() const { return handle >= 0; }
  // Rows [begin, begin + count): one part of a fused matrix.
  Matrix part(int begin, int count) const {
    Matrix rows_only = *this;
    rows_only.rows = count;
    rows_only.first_row += begin;
    return rows_only;
  }
};

class WeightSource {
 public:
  virtual ~WeightSource() = default;

  // Describes a matrix; reads nothing of it yet. A three-dimensional tensor gives one handle per
  // slice.
  virtual Result<Matrix> matrix(std::string_view name, int rows, int columns) = 0;
  virtual Result<std::vector<Matrix>> matrices(std::string_view name, int count, int rows,
                                               int columns) = 0;
  virtual bool has(std::string_view name) const = 0;

  // Small vectors (norms, biases, convolution taps) as f32, decoded once and owned by the source.
  // `count` is that of all values, whatever the tensor's shape.
  virtual Result<std::span<const float>> vector(std::string_view name, int count) = 0;

  // The stored bytes of rows [begin, begin + count), valid until `release` of the same range. Safe
  // from any worker. A streaming source blocks here until they have arrived.
  virtual const std::byte* acquire(const Matrix& matrix, int begin, int count) const = 0;
  virtual void release(const Matrix& matrix, int begin, int count) const = 0;

  // Private memory this source holds (decoded vectors, packed copies); the mapped file does not
  // count.
  virtual std::size_t bytes() const = 0;
};

// Weights as they stand in the mapped file.
std::unique_ptr<WeightSource> make_mapped_weights(const gguf::File& file);

}  // namespace adjudge
