// The gated delta rule's step, written in a level's lanes (its lanes.h).
// Everything is static or unnamed: units of several levels include this and must share nothing.
#pragma once

#include "kernel/simd/rows.h"

namespace adjudge::kernel {

namespace {

// One token, for every column of a slice: q, k (width); overlap = k . q.
struct DeltaToken {
  const float* q;
  const float* k;
  float decay;
  float beta;
  float overlap;
  int width;
};

// kVectors vectors of columns, or a part of one: `lanes` columns. The old state is read once for
// both S^T k and S^T q: out = (decay S + k u^T)^T q = decay (S^T q) + (k . q) u. Even and odd rows
// are summed apart, to hide the latency of multiply-adds.
template <class V, int kVectors, bool kWhole>
void delta_columns(float* state, std::size_t stride, const DeltaToken& token, const float* v,
                   int lanes, float* out) {
  using Floats = typename V::Floats;
  const auto load = [=](const float* from, int vector) {
    from += vector * V::kCount;
    return kWhole ? V::load(from) : V::load(from, lanes);
  };
  const auto store = [=](float* to, int vector, Floats value) {
    to += vector * V::kCount;
    kWhole ? V::store(to, value) : V::store(to, value, lanes);
  };
  Floats with_k[2][kVectors], with_q[2][kVectors];
  for (int j = 0; j < kVectors; ++j) {
    with_k[0][j] = with_k[1][j] = with_q[0][j] = with_q[1][j] = V::zero();
  }
  const auto read_row = [&](int row, int chain) {
    const Floats k = V::all(token.k[row]), q = V::all(token.q[row]);
    for (int j = 0; j < kVectors; ++j) {
      const Floats cells = load(state + static_cast<std::size_t>(row) * stride, j);
      with_k[chain][j] = V::fma(cells, k, with_k[chain][j]);
      with_q[chain][j] = V::fma(cells, q, with_q[chain][j]);
    }
  };
  int row = 0;
  for (; row + 2 <= token.width; row += 2) {
    read_row(row, 0);
    read_row(row + 1, 1);
  }
  if (row < token.width) read_row(row, 0);

  const Floats decay = V::all(token.decay);
  Floats update[kVectors];
  for (int j = 0; j < kVectors; ++j) {
    const Floats recalled = V::mul(decay, V::add(with_k[0][j], with_k[1][j]));
    update[j] = V::mul(V::all(token.beta), V::sub(load(v, j), recalled));
    const Floats kept = V::mul(decay, V::add(with_q[0][j], with_q[1][j]));
    store(out, j, V::fma(V::all(token.overlap), update[j], kept));
  }
  for (row = 0; row < token.width; ++row) {
    const Floats k = V::all(token.k[row]);
    float* cells = state + static_cast<std::size_t>(row) * stride;
    for (int j = 0; j < kVectors; ++j) {
      store(cells, j, V::fma(k, update[j], V::mul(decay, load(cells, j))));
    }
  }
}

template <class V>
void delta_step(float* state, std::size_t state_stride, const float* q, const float* k,
                const float* v, float decay, float beta, int width, int columns, float* out) {
  const DeltaToken token{q, k, decay, beta, RowOperations<V>::dot(k, q, width), width};
  int c = 0;
  constexpr int kVectors = V::kDeltaVectors;
  for (; c + kVectors * V::kCount <= columns; c += kVectors * V::kCount) {
    delta_columns<V, kVectors, true>(state + c, state_stride, token, v + c, V::kCount, out + c);
  }
  for (; c + V::kCount <= columns; c += V::kCount) {
    delta_columns<V, 1, true>(state + c, state_stride, token, v + c, V::kCount, out + c);
  }
  if (c < columns) {
    delta_columns<V, 1, false>(state + c, state_stride, token, v + c, columns - c, out + c);
  }
}

}  // namespace

}  // namespace adjudge::kernel
