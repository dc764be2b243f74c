// Operations along one row, written in a level's lanes (its lanes.h). A tail shorter than a vector
// goes through the same arithmetic with zeros behind it, so no element knows where it stands.
// Everything is static or unnamed: units of several levels include this and must share nothing.
#pragma once

#include "kernel/simd/exponential.h"
#include "kernel/table.h"

namespace adjudge::kernel {

namespace {

template <class V>
struct RowOperations {
  using Floats = typename V::Floats;

  // out = operation(index, lanes' count), vector by vector.
  template <class Operation>
  static void for_each(int count, float* out, const Operation& operation) {
    int i = 0;
    for (; i + V::kCount <= count; i += V::kCount) V::store(out + i, operation(i, V::kCount));
    if (i < count) V::store(out + i, operation(i, count - i), count - i);
  }

  static Floats load(const float* from, int count) {
    return count == V::kCount ? V::load(from) : V::load(from, count);
  }
  static void store(float* to, Floats values, int count) {
    count == V::kCount ? V::store(to, values) : V::store(to, values, count);
  }

  // The sum of operation(index, lanes' count), which must be zero in lanes past the count. Two
  // chains hide each other's latency.
  template <class Operation>
  static float sum(int count, const Operation& operation) {
    Floats even = V::zero(), odd = V::zero();
    int i = 0;
    for (; i + 2 * V::kCount <= count; i += 2 * V::kCount) {
      even = operation(i, V::kCount, even);
      odd = operation(i + V::kCount, V::kCount, odd);
    }
    if (i + V::kCount <= count) {
      even = operation(i, V::kCount, even);
      i += V::kCount;
    }
    if (i < count) odd = operation(i, count - i, odd);
    return V::sum(V::add(even, odd));
  }

  static float dot(const float* a, const float* b, int count) {
    return sum(count, [=](int i, int lanes, Floats so_far) {
      return V::fma(load(a + i, lanes), load(b + i, lanes), so_far);
    });
  }

  static void add_scaled(float* out, const float* x, float scale, int count) {
    const Floats factor = V::all(scale);
    for_each(count, out, [=](int i, int lanes) {
      return V::fma(factor, load(x + i, lanes), load(out + i, lanes));
    });
  }

  static float inverse_root(float x) { return 1.0f / __builtin_sqrtf(x); }

  static void rms_norm(const float* x, const float* weight, float epsilon, int count, float* out) {
    const auto mean = dot(x, x, count) / static_cast<float>(count);
    const Floats scale = V::all(inverse_root(mean + epsilon));
    for_each(count, out, [=](int i, int lanes) {
      const Floats normal = V::mul(load(x + i, lanes), scale);
      return weight == nullptr ? normal : V::mul(normal, load(weight + i, lanes));
    });
  }

  static void l2_norm(float* x, float epsilon, int count) {
    const Floats scale = V::all(inverse_root(dot(x, x, count) + epsilon));
    for_each(count, x, [=](int i, int lanes) { return V::mul(load(x + i, lanes), scale); });
  }

  static void layer_norm(const float* x, const float* weight, const float* bias, float epsilon,
                         int count, float* out) {
    const auto size = static_cast<float>(count);
    const Floats mean =
        V::all(sum(count, [=](int i, int lanes,
                              Floats so_far) { return V::add(so_far, load(x + i, lanes)); }) /
               size);
    const float variance = sum(count,
                               [=](int i, int lanes, Floats so_far) {
                                 const Floats distance = V::sub(load(x + i, lanes), mean);
                                 const Floats own = V::first_or(distance, lanes, V::zero());
                                 return V::fma(own, own, so_far);
                               }) /
                           size;
    const Floats scale = V::all(inverse_root(variance + epsilon));
    for_each(count, out, [=](int i, int lanes) {
      const Floats normal = V::mul(V::sub(load(x + i, lanes), mean), scale);
      const Floats factor = weight == nullptr ? V::all(1.0f) : load(weight + i, lanes);
      return V::fma(normal, factor, bias == nullptr ? V::zero() : load(bias + i, lanes));
    });
  }

  static float largest(const float* x, int count) {
    Floats most = V::all(x[0]);
    int i = 0;
    for (; i + V::kCount <= count; i += V::kCount) most = V::max(most, V::load(x + i));
    if (i < count) {
      most = V::max(most, V::first_or(V::load(x + i, count - i), count - i, most));
    }
    return V::largest(most);
  }

  static void softmax(float* x, int count) {
    const Floats most = V::all(largest(x, count));
    for_each(count, x,
             [=](int i, int lanes) { return exponential<V>(V::sub(load(x + i, lanes), most)); });
    const Floats scale = V::all(1.0f / sum(count, [=](int i, int lanes, Floats so_far) {
                                  return V::add(so_far, load(x + i, lanes));
                                }));
    for_each(count, x, [=](int i, int lanes) { return V::mul(load(x + i, lanes), scale); });
  }

  static void swiglu(float* gate, const float* up, int count) {
    for_each(count, gate, [=](int i, int lanes) {
      const Floats own = load(gate + i, lanes);
      return V::mul(gated<V>(own, own), load(up + i, lanes));
    });
  }

  static void gelu(float* x, int count) {
    for_each(count, x, [=](int i, int lanes) { return exact_gelu<V>(load(x + i, lanes)); });
  }

  static void geglu(float* gate, const float* up, int count) {
    for_each(count, gate, [=](int i, int lanes) {
      return V::mul(exact_gelu<V>(load(gate + i, lanes)), load(up + i, lanes));
    });
  }

  static void sigmoid_gate(float* x, const float* gate, int count) {
    for_each(count, x,
             [=](int i, int lanes) { return gated<V>(load(x + i, lanes), load(gate + i, lanes)); });
  }

  static void rotate_halves(float* x, const float* cosines, const float* sines, int half) {
    for (int i = 0; i < half; i += V::kCount) {
      const int lanes = half - i < V::kCount ? half - i : V::kCount;
      const Floats cosine = load(cosines + i, lanes), sine = load(sines + i, lanes);
      const Floats low = load(x + i, lanes), high = load(x + half + i, lanes);
      V::store(x + i, V::fnma(high, sine, V::mul(low, cosine)), lanes);
      V::store(x + half + i, V::fma(low, sine, V::mul(high, cosine)), lanes);
    }
  }

  // Tokens whose sums are in registers together: a row is looked at by tap_count of them.
  static constexpr int kConvolvedTokens = 4;

  template <int kTokens>
  static void convolve_tokens(const float* const* rows, const float* taps, int tap_count,
                              int channels, float* out, std::size_t out_stride) {
    for (int i = 0; i < channels; i += V::kCount) {
      const int lanes = channels - i < V::kCount ? channels - i : V::kCount;
      Floats totals[kTokens];
      for (int token = 0; token < kTokens; ++token) totals[token] = V::zero();
      for (int t = 0; t < tap_count; ++t) {
        const Floats tap = load(taps + t * channels + i, lanes);
        for (int token = 0; token < kTokens; ++token) {
          totals[token] = V::fma(tap, load(rows[token + t] + i, lanes), totals[token]);
        }
      }
      for (int token = 0; token < kTokens; ++token) {
        store(out + static_cast<std::size_t>(token) * out_stride + i,
              gated<V>(totals[token], totals[token]), lanes);
      }
    }
  }

  static void convolve_silu(const float* const* rows, const float* taps, int tap_count,
                            int token_count, int channels, float* out, std::size_t out_stride) {
    int token = 0;
    for (; token + kConvolvedTokens <= token_count; token += kConvolvedTokens) {
      convolve_tokens<kConvolvedTokens>(rows + token, taps, tap_count, channels, out, out_stride);
      out += kConvolvedTokens * out_stride;
    }
    for (; token < token_count; ++token, out += out_stride) {
      convolve_tokens<1>(rows + token, taps, tap_count, channels, out, out_stride);
    }
  }
};

template <class V>
void improve_rows(Table& table) {
  using Rows = RowOperations<V>;
  table.dot = Rows::dot;
  table.add_scaled = Rows::add_scaled;
  table.rms_norm = Rows::rms_norm;
  table.l2_norm = Rows::l2_norm;
  table.layer_norm = Rows::layer_norm;
  table.softmax = Rows::softmax;
  table.swiglu = Rows::swiglu;
  table.gelu = Rows::gelu;
  table.geglu = Rows::geglu;
  table.sigmoid_gate = Rows::sigmoid_gate;
  table.rotate_halves = Rows::rotate_halves;
  table.convolve_silu = Rows::convolve_silu;
}

}  // namespace

}  // namespace adjudge::kernel
