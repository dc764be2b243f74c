// Products with weight matrices: out = x W^T, in the arithmetic that the context's precision gives
// the matrix's format.
#pragma once

#include <span>

#include "nn/context.h"

namespace adjudge {

// Rows of floats, `stride` apart.
struct Rows {
  float* data = nullptr;
  int count = 0;
  int width = 0;
  std::size_t stride = 0;
  float* row(int index) const { return data + static_cast<std::size_t>(index) * stride; }
};

// The same room with no gaps between rows, as attention reads keys and values.
inline Rows without_gaps(const Rows& rows) {
  return {rows.data, rows.count, rows.width, static_cast<std::size_t>(rows.width)};
}

// One product of a group that shares its input.
struct Product {
  const Matrix* matrix;  // (out.width, x.width)
  Rows out;
  bool exact = false;  // in f32 whatever the precision: small matrices that decide a lot
};

// All products of a group share the input as it is rounded once. Bits of a row do not depend on the
// other rows, on the group or on the number of threads.
void multiply(const NetContext& net, const Rows& x, std::span<const Product> products);
inline void multiply(const NetContext& net, const Rows& x, const Matrix& matrix, const Rows& out) {
  const Product product{&matrix, out};
  multiply(net, x, std::span<const Product>(&product, 1));
}

// Only some rows of the matrix, in f32: out[i][j] = x[i] . W[selected[j]]; for label logits and
// embeddings of options.
void multiply_selected(const NetContext& net, const Rows& x, const Matrix& matrix,
                       std::span<const int> selected, const Rows& out);

// Decodes matrix row ids[i] into out row i: token embeddings.
void gather(const NetContext& net, const Matrix& matrix, std::span<const int> ids, const Rows& out);

}  // namespace adjudge
