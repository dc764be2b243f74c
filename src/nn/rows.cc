#include "nn/rows.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/size.h"

namespace adjudge {

namespace {

// A task is worth waking somebody for from about this many values on: 10 to 20 microseconds.
constexpr int kTaskValues = 1 << 14;

// body(row) for every row of x, in tasks of neighbouring rows.
template <class Body>
void for_each_row(const NetContext& net, const Rows& x, const Body& body) {
  const int grain = std::max(1, kTaskValues / std::max(1, x.width));
  const auto some_rows = [&](int index, int) {
    const int end = std::min(x.count, (index + 1) * grain);
    for (int row = index * grain; row < end; ++row) body(row);
  };
  net.pool->run((x.count + grain - 1) / grain, some_rows);
}

void check_same_shape(const Rows& a, const Rows& b) {
  CHECK(a.count == b.count && a.width == b.width);
}

}  // namespace

void rms_norm(const NetContext& net, const Rows& x, std::span<const float> weight, float epsilon,
              const Rows& out) {
  check_same_shape(x, out);
  CHECK(count_of(weight) == x.width);
  for_each_row(net, x, [&](int row) {
    net.kernels->rms_norm(x.row(row), weight.data(), epsilon, x.width, out.row(row));
  });
}

void rms_norm_heads(const NetContext& net, const Rows& x, std::span<const float> weight,
                    float epsilon) {
  const int head_width = count_of(weight);
  CHECK(head_width > 0 && x.width % head_width == 0);
  for_each_row(net, x, [&](int row) {
    for (float* head = x.row(row); head != x.row(row) + x.width; head += head_width) {
      net.kernels->rms_norm(head, weight.data(), epsilon, head_width, head);
    }
  });
}

void l2_norm_heads(const NetContext& net, const Rows& x, int head_width, float epsilon) {
  CHECK(head_width > 0 && x.width % head_width == 0);
  for_each_row(net, x, [&](int row) {
    for (float* head = x.row(row); head != x.row(row) + x.width; head += head_width) {
      net.kernels->l2_norm(head, epsilon, head_width);
    }
  });
}

void layer_norm(const NetContext& net, const Rows& x, std::span<const float> weight,
                std::span<const float> bias, float epsilon, const Rows& out) {
  check_same_shape(x, out);
  CHECK(count_of(weight) == x.width && (bias.empty() || bias.size() == weight.size()));
  const float* shift = bias.empty() ? nullptr : bias.data();
  for_each_row(net, x, [&](int row) {
    net.kernels->layer_norm(x.row(row), weight.data(), shift, epsilon, x.width, out.row(row));
  });
}

void add(const NetContext& net, const Rows& x, const Rows& y) {
  check_same_shape(x, y);
  for_each_row(net, x,
               [&](int row) { net.kernels->add_scaled(x.row(row), y.row(row), 1.0f, x.width); });
}

void add_bias(const NetContext& net, const Rows& x, std::span<const float> bias) {
  CHECK(count_of(bias) == x.width);
  for_each_row(net, x,
               [&](int row) { net.kernels->add_scaled(x.row(row), bias.data(), 1.0f, x.width); });
}

void swiglu(const NetContext& net, const Rows& gate, const Rows& up) {
  check_same_shape(gate, up);
  for_each_row(net, gate,
               [&](int row) { net.kernels->swiglu(gate.row(row), up.row(row), gate.width); });
}

void geglu(const NetContext& net, const Rows& gate, const Rows& up) {
  check_same_shape(gate, up);
  for_each_row(net, gate,
               [&](int row) { net.kernels->geglu(gate.row(row), up.row(row), gate.width); });
}

void gelu(const NetContext& net, const Rows& x) {
  for_each_row(net, x, [&](int row) { net.kernels->gelu(x.row(row), x.width); });
}

void relu(const NetContext& net, const Rows& x) {
  for_each_row(net, x, [&](int row) {
    float* values = x.row(row);
    for (int i = 0; i < x.width; ++i) values[i] = std::max(values[i], 0.0f);
  });
}

void sigmoid_gate(const NetContext& net, const Rows& x, const Rows& gate) {
  check_same_shape(x, gate);
  for_each_row(net, x,
               [&](int row) { net.kernels->sigmoid_gate(x.row(row), gate.row(row), x.width); });
}

}  // namespace adjudge
