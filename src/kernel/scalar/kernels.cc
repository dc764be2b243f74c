// The reference level: every entry in plain C++, sums in double. Slow on purpose where plain is
// clearer; what the other levels improve is measured against it.
#include <math.h>

#include <cstddef>

#include "kernel/table.h"

namespace adjudge::kernel::scalar {

void improve(Table& table);

namespace {

// Formats are decoded this many values at a time: the largest block there is (q4_K and its kin).
constexpr int kChunk = 256;

template <gguf::DType type>
void fill_panel(const std::byte* rows, std::size_t row_bytes, int columns, int begin, int depth,
                float* panel) {
  const gguf::DTypeTraits& traits = gguf::traits_of(type);
  const auto block_values = static_cast<std::size_t>(traits.block_values);
  const auto block_bytes = static_cast<std::size_t>(traits.block_bytes);
  float values[kChunk];
  for (int column = 0; column < kPanelColumns; ++column) {
    for (int k = 0; k < depth; k += kChunk) {
      const int count = depth - k < kChunk ? depth - k : kChunk;
      const std::size_t block = static_cast<std::size_t>(begin + k) / block_values;
      if (column < columns) {
        traits.decode(rows + static_cast<std::size_t>(column) * row_bytes + block * block_bytes,
                      static_cast<std::size_t>(count) / block_values, values);
      }
      for (int i = 0; i < count; ++i) {
        panel[(k + i) * kPanelColumns + column] = column < columns ? values[i] : 0.0f;
      }
    }
  }
}

void multiply_panel(const float* x, std::size_t x_stride, int rows, const float* panel, int depth,
                    float* out, std::size_t out_stride, bool accumulate) {
  for (int row = 0; row < rows; ++row, x += x_stride, out += out_stride) {
    float sums[kPanelColumns] = {};
    for (int k = 0; k < depth; ++k) {
      const float* weights = panel + k * kPanelColumns;
      for (int c = 0; c < kPanelColumns; ++c) sums[c] += x[k] * weights[c];
    }
    for (int c = 0; c < kPanelColumns; ++c) out[c] = accumulate ? out[c] + sums[c] : sums[c];
  }
}

double exact_dot(const float* a, const float* b, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

float dot(const float* a, const float* b, int count) {
  return static_cast<float>(exact_dot(a, b, count));
}

void add_scaled(float* sum, const float* x, float scale, int count) {
  for (int i = 0; i < count; ++i) sum[i] += scale * x[i];
}

void rms_norm(const float* x, const float* weight, float epsilon, int count, float* out) {
  const auto scale =
      static_cast<float>(1 / sqrt(exact_dot(x, x, count) / count + static_cast<double>(epsilon)));
  for (int i = 0; i < count; ++i) out[i] = x[i] * scale * (weight != nullptr ? weight[i] : 1.0f);
}

void l2_norm(float* x, float epsilon, int count) {
  const auto scale =
      static_cast<float>(1 / sqrt(exact_dot(x, x, count) + static_cast<double>(epsilon)));
  for (int i = 0; i < count; ++i) x[i] *= scale;
}

void layer_norm(const float* x, const float* weight, const float* bias, float epsilon, int count,
                float* out) {
  double mean = 0;
  for (int i = 0; i < count; ++i) mean += static_cast<double>(x[i]) / count;
  double variance = 0;
  for (int i = 0; i < count; ++i) {
    const double distance = static_cast<double>(x[i]) - mean;
    variance += distance * distance / count;
  }
  const double scale = 1 / sqrt(variance + static_cast<double>(epsilon));
  for (int i = 0; i < count; ++i) {
    const auto normal = static_cast<float>((static_cast<double>(x[i]) - mean) * scale);
    out[i] = normal * (weight != nullptr ? weight[i] : 1.0f) + (bias != nullptr ? bias[i] : 0.0f);
  }
}

void softmax(float* x, int count) {
  float largest = x[0];
  for (int i = 1; i < count; ++i) largest = x[i] > largest ? x[i] : largest;
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    x[i] = expf(x[i] - largest);
    sum += static_cast<double>(x[i]);
  }
  const auto scale = static_cast<float>(1 / sum);
  for (int i = 0; i < count; ++i) x[i] *= scale;
}

float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }

void swiglu(float* gate, const float* up, int count) {
  for (int i = 0; i < count; ++i) gate[i] = gate[i] * sigmoid(gate[i]) * up[i];
}

float exact_gelu(float x) {
  const auto wide = static_cast<double>(x);
  return static_cast<float>(0.5 * wide * erfc(-wide * M_SQRT1_2));
}

void gelu(float* x, int count) {
  for (int i = 0; i < count; ++i) x[i] = exact_gelu(x[i]);
}

void geglu(float* gate, const float* up, int count) {
  for (int i = 0; i < count; ++i) gate[i] = exact_gelu(gate[i]) * up[i];
}

void silu(float* x, int count) {
  for (int i = 0; i < count; ++i) x[i] *= sigmoid(x[i]);
}

void sigmoid_gate(float* x, const float* gate, int count) {
  for (int i = 0; i < count; ++i) x[i] *= sigmoid(gate[i]);
}

void rotate_halves(float* x, const float* cosines, const float* sines, int half) {
  for (int i = 0; i < half; ++i) {
    const float low = x[i], high = x[i + half];
    x[i] = low * cosines[i] - high * sines[i];
    x[i + half] = low * sines[i] + high * cosines[i];
  }
}

void delta_step(float* state, std::size_t state_stride, const float* q, const float* k,
                const float* v, float decay, float beta, int width, int columns, float* out) {
  for (int c = 0; c < columns; ++c) {
    float* column = state + c;
    float recalled = 0;  // S^T k
    for (int i = 0; i < width; ++i) {
      float& cell = column[static_cast<std::size_t>(i) * state_stride];
      cell *= decay;
      recalled += cell * k[i];
    }
    const float update = beta * (v[c] - recalled);
    float sum = 0;
    for (int i = 0; i < width; ++i) {
      float& cell = column[static_cast<std::size_t>(i) * state_stride];
      cell += k[i] * update;
      sum += cell * q[i];
    }
    out[c] = sum;
  }
}

void convolve_silu(const float* const* rows, const float* taps, int tap_count, int channels,
                   float* out) {
  for (int c = 0; c < channels; ++c) {
    float sum = 0;
    for (int t = 0; t < tap_count; ++t) sum += taps[t * channels + c] * rows[t][c];
    out[c] = sum * sigmoid(sum);
  }
}

template <gguf::DType type>
void set_fill_panel(Table& table) {
  table.fill_panel[static_cast<int>(type)] = fill_panel<type>;
}

}  // namespace

void improve(Table& table) {
  using gguf::DType;
  set_fill_panel<DType::f32>(table);
  set_fill_panel<DType::f16>(table);
  set_fill_panel<DType::bf16>(table);
  set_fill_panel<DType::q4_0>(table);
  set_fill_panel<DType::q4_1>(table);
  set_fill_panel<DType::q5_0>(table);
  set_fill_panel<DType::q5_1>(table);
  set_fill_panel<DType::q8_0>(table);
  set_fill_panel<DType::q4_K>(table);
  set_fill_panel<DType::q5_K>(table);
  set_fill_panel<DType::q6_K>(table);
  set_fill_panel<DType::iq4_nl>(table);
  set_fill_panel<DType::iq4_xs>(table);
  table.multiply_panel = multiply_panel;
  table.dot = dot;
  table.add_scaled = add_scaled;
  table.rms_norm = rms_norm;
  table.l2_norm = l2_norm;
  table.layer_norm = layer_norm;
  table.softmax = softmax;
  table.swiglu = swiglu;
  table.gelu = gelu;
  table.geglu = geglu;
  table.silu = silu;
  table.sigmoid_gate = sigmoid_gate;
  table.rotate_halves = rotate_halves;
  table.delta_step = delta_step;
  table.convolve_silu = convolve_silu;
}

}  // namespace adjudge::kernel::scalar
