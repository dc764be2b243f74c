// Row-by-row operations, spread over the crew.
#pragma once

#include <span>

#include "nn/matmul.h"

namespace adjudge {

// out = rms(x) * weight, per row.
void rms_norm(const NetContext& net, const Rows& x, std::span<const float> weight, float epsilon,
              const Rows& out);

// The same per group of weight.size() values inside each row (heads); in place.
void rms_norm_heads(const NetContext& net, const Rows& x, std::span<const float> weight,
                    float epsilon);

// x /= sqrt(sum(x^2) + epsilon) per group of `head_width` values inside each row; in place.
void l2_norm_heads(const NetContext& net, const Rows& x, int head_width, float epsilon);

// out = (x - mean) / sqrt(variance + epsilon) * weight + bias, per row; an empty bias is none.
void layer_norm(const NetContext& net, const Rows& x, std::span<const float> weight,
                std::span<const float> bias, float epsilon, const Rows& out);

// x += y
void add(const NetContext& net, const Rows& x, const Rows& y);

// x += bias, per row.
void add_bias(const NetContext& net, const Rows& x, std::span<const float> bias);

// gate = silu(gate) * up
void swiglu(const NetContext& net, const Rows& gate, const Rows& up);

// gate = gelu(gate) * up, with the exact (erf) form of the GELU
void geglu(const NetContext& net, const Rows& gate, const Rows& up);

// x = gelu(x)
void gelu(const NetContext& net, const Rows& x);

// x = max(x, 0)
void relu(const NetContext& net, const Rows& x);

// x *= 1 / (1 + exp(-gate))
void sigmoid_gate(const NetContext& net, const Rows& x, const Rows& gate);

}  // namespace adjudge
