// The gated delta rule, written in a level's lanes (its lanes.h).
// Everything is static or unnamed: units of several levels include this and must share nothing.
#pragma once

#include "kernel/simd/rows.h"

namespace adjudge::kernel {

namespace {

// kVectors vectors of columns, or a part of one: `lanes` columns. A token needs the old state for
// S^T k and S^T q: out = (decay S + k u^T)^T q = decay (S^T q) + (k . q) u. What it writes is what
// the next one reads, so both happen in one walk over the state.
template <class V, int kVectors, bool kWhole>
class DeltaColumns {
  using Floats = typename V::Floats;

 public:
  DeltaColumns(float* state, std::size_t stride, const DeltaTokens& tokens, int column, int lanes)
      : state_(state + column), stride_(stride), tokens_(tokens), column_(column), lanes_(lanes) {}

  void run() {
    walk<false, true>(0);
    for (int token = 0; token < tokens_.count; ++token) {
      finish(token);
      if (token + 1 < tokens_.count) {
        walk<true, true>(token + 1);
      } else {
        walk<true, false>(token + 1);
      }
    }
  }

 private:
  Floats load(const float* from, int vector) const {
    from += vector * V::kCount;
    return kWhole ? V::load(from) : V::load(from, lanes_);
  }
  void store(float* to, int vector, Floats value) const {
    to += vector * V::kCount;
    kWhole ? V::store(to, value) : V::store(to, value, lanes_);
  }

  // The sums S^T k and S^T q of a token; even and odd rows apart, to hide the latency of
  // multiply-adds.
  struct Sums {
    Floats with_k[2][kVectors], with_q[2][kVectors];
  };

  // Row by row: writes what token `next - 1` changes (kWrite), and sums up what `next` reads.
  template <bool kWrite, bool kRead>
  void walk(int next) {
    const float* written = kWrite ? tokens_.k.row(next - 1) : nullptr;
    const float* k = kRead ? tokens_.k.row(next) : nullptr;
    const float* q = kRead ? tokens_.q.row(next) : nullptr;
    const Floats decay = kWrite ? V::all(*tokens_.decay.row(next - 1)) : V::zero();
    Floats update[kVectors];
    Sums sums;
    for (int j = 0; j < kVectors; ++j) {
      update[j] = update_[j];
      for (int chain = 0; chain < 2; ++chain) {
        sums.with_k[chain][j] = sums.with_q[chain][j] = V::zero();
      }
    }
    const auto visit_row = [&](int row, int chain) {
      float* cells = state_ + static_cast<std::size_t>(row) * stride_;
      for (int j = 0; j < kVectors; ++j) {
        Floats own = load(cells, j);
        if constexpr (kWrite) {
          own = V::fma(V::all(written[row]), update[j], V::mul(decay, own));
          store(cells, j, own);
        }
        if constexpr (kRead) {
          sums.with_k[chain][j] = V::fma(own, V::all(k[row]), sums.with_k[chain][j]);
          sums.with_q[chain][j] = V::fma(own, V::all(q[row]), sums.with_q[chain][j]);
        }
      }
    };
    int row = 0;
    for (; row + 2 <= tokens_.width; row += 2) {
      visit_row(row, 0);
      visit_row(row + 1, 1);
    }
    if (row < tokens_.width) visit_row(row, 0);
    sums_ = sums;
  }

  // What a token answers, and what it changes of the state, from its sums.
  void finish(int token) {
    const float* v = tokens_.v.row(token) + column_;
    float* out = tokens_.out + static_cast<std::size_t>(token) * tokens_.out_stride + column_;
    const Floats decay = V::all(*tokens_.decay.row(token));
    const Floats beta = V::all(*tokens_.beta.row(token));
    const Floats overlap =
        V::all(RowOperations<V>::dot(tokens_.k.row(token), tokens_.q.row(token), tokens_.width));
    for (int j = 0; j < kVectors; ++j) {
      const Floats recalled = V::mul(decay, V::add(sums_.with_k[0][j], sums_.with_k[1][j]));
      update_[j] = V::mul(beta, V::sub(load(v, j), recalled));
      const Floats kept = V::mul(decay, V::add(sums_.with_q[0][j], sums_.with_q[1][j]));
      store(out, j, V::fma(overlap, update_[j], kept));
    }
  }

  float* state_;
  std::size_t stride_;
  const DeltaTokens& tokens_;
  int column_;
  int lanes_;
  Sums sums_;
  Floats update_[kVectors] = {};
};

template <class V>
void delta_rule(float* state, std::size_t state_stride, const DeltaTokens& tokens) {
  int c = 0;
  constexpr int kVectors = V::kDeltaVectors;
  for (; c + kVectors * V::kCount <= tokens.columns; c += kVectors * V::kCount) {
    DeltaColumns<V, kVectors, true>(state, state_stride, tokens, c, V::kCount).run();
  }
  for (; c + V::kCount <= tokens.columns; c += V::kCount) {
    DeltaColumns<V, 1, true>(state, state_stride, tokens, c, V::kCount).run();
  }
  if (c < tokens.columns) {
    DeltaColumns<V, 1, false>(state, state_stride, tokens, c, tokens.columns - c).run();
  }
}

}  // namespace

}  // namespace adjudge::kernel
