// exp and what is made of it, written in a level's lanes (its lanes.h).
// Everything is static or unnamed: units of several levels include this and must share nothing.
#pragma once

namespace adjudge::kernel {

namespace {

// Relative error below 1e-7. exp(x) = 2^n exp(r) with |r| <= ln 2 / 2.
template <class V>
typename V::Floats exponential(typename V::Floats x) {
  using Floats = typename V::Floats;
  // Beyond, the result is infinity or zero in f32; the order of operands keeps what is no number.
  x = V::max(V::all(-104.0f), V::min(V::all(89.0f), x));
  const Floats n = V::round(V::mul(x, V::all(0x1.715476p+0f)));  // log2(e)
  // ln 2 in two parts: the first has 9 bits, so n times it is exact.
  Floats r = V::fnma(n, V::all(0.693359375f), x);
  r = V::fnma(n, V::all(-2.12194440e-4f), r);
  // Minimax of the relative error over |r| <= ln 2 / 2 with the first two coefficients kept 1:
  // 3.1e-9 before rounding.
  Floats p = V::all(1.38145406e-3f);
  p = V::fma(p, r, V::all(8.36874545e-3f));
  p = V::fma(p, r, V::all(4.16683890e-2f));
  p = V::fma(p, r, V::all(1.66665211e-1f));
  p = V::fma(p, r, V::all(4.99999940e-1f));
  p = V::fma(V::mul(p, r), r, r);
  return V::scale(V::add(p, V::all(1.0f)), n);
}

// x / (1 + exp(-gate))
template <class V>
typename V::Floats gated(typename V::Floats x, typename V::Floats gate) {
  const typename V::Floats one = V::all(1.0f);
  return V::div(x, V::add(one, exponential<V>(V::sub(V::zero(), gate))));
}

// x * Phi(x), where Phi is the normal distribution: the GELU in its exact (erf) form.
// Phi(-|x|) = exp(-x^2 / 2) t g(t) with t = 1 / (1 + 0.27 |x|), which runs over (0, 1]; g is
// minimax of the relative error, 3.8e-8 with coefficients in f32.
template <class V>
typename V::Floats exact_gelu(typename V::Floats x) {
  using Floats = typename V::Floats;
  const Floats size = V::max(x, V::sub(V::zero(), x));
  const Floats t = V::div(V::all(1.0f), V::fma(V::all(0.27f), size, V::all(1.0f)));
  Floats g = V::all(2.89610885e-02f);
  g = V::fma(g, t, V::all(-1.26485810e-01f));
  g = V::fma(g, t, V::all(1.69786036e-01f));
  g = V::fma(g, t, V::all(-6.92106336e-02f));
  g = V::fma(g, t, V::all(1.07825547e-01f));
  g = V::fma(g, t, V::all(7.20496476e-02f));
  g = V::fma(g, t, V::all(1.01810597e-01f));
  g = V::fma(g, t, V::all(1.07542872e-01f));
  g = V::fma(g, t, V::all(1.07720658e-01f));
  const Floats bell = exponential<V>(V::mul(V::mul(size, V::all(-0.5f)), size));
  // Above zero Phi(x) = 1 - Phi(-x), so both signs are max(x, 0) - |x| Phi(-|x|).
  return V::fnma(size, V::mul(bell, V::mul(t, g)), V::max(V::zero(), x));
}

}  // namespace

}  // namespace adjudge::kernel
