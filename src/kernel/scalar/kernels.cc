// The reference level: every entry in plain C++, sums in double. Slow on purpose where plain is
// clearer; what the other levels improve is measured against it.
#include <math.h>

#include <cstddef>

#include "gguf/half.h"
#include "kernel/simd/codes.h"
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

// bf16: what fill_panel and multiply_panel do, two inputs to a word.

std::uint32_t pair_of(float even, float odd) {
  return gguf::bf16_of_float(even) | static_cast<std::uint32_t>(gguf::bf16_of_float(odd)) << 16;
}

void round_pairs(const float* x, int count, std::uint32_t* out) {
  for (int i = 0; i < count; i += 2) *out++ = pair_of(x[i], i + 1 < count ? x[i + 1] : 0.0f);
}

template <gguf::DType type>
void fill_pairs(const std::byte* rows, std::size_t row_bytes, int columns, int begin, int depth,
                std::uint32_t* panel) {
  float values[kPanelDepth * kPanelColumns];
  fill_panel<type>(rows, row_bytes, columns, begin, depth, values);
  for (int k = 0; k < depth; k += 2) {
    for (int c = 0; c < kPanelColumns; ++c) {
      const float* even = values + k * kPanelColumns + c;
      *panel++ = pair_of(even[0], k + 1 < depth ? even[kPanelColumns] : 0.0f);
    }
  }
}

void multiply_pairs(const std::uint32_t* x, std::size_t x_stride, int rows,
                    const std::uint32_t* panel, int depth, float* out, std::size_t out_stride,
                    bool accumulate) {
  const auto even = [](std::uint32_t pair) { return gguf::float_of_bits(pair << 16); };
  const auto odd = [](std::uint32_t pair) { return gguf::float_of_bits(pair & 0xffff0000u); };
  for (int row = 0; row < rows; ++row, x += x_stride, out += out_stride) {
    float sums[kPanelColumns] = {};
    for (int k = 0; k < depth; ++k) {
      const std::uint32_t* weights = panel + k * kPanelColumns;
      for (int c = 0; c < kPanelColumns; ++c) {
        sums[c] += even(x[k]) * even(weights[c]);
        sums[c] += odd(x[k]) * odd(weights[c]);
      }
    }
    for (int c = 0; c < kPanelColumns; ++c) out[c] = accumulate ? out[c] + sums[c] : sums[c];
  }
}

// int8: codes lie as (input, column), signed.

struct Words {
  static float half(std::uint16_t bits) { return gguf::float_of_half(bits); }
  template <class Byte>
  static void scale_eight(const Byte* bytes, float factor, float* out) {
    for (int i = 0; i < 8; ++i) out[i] = factor * static_cast<float>(bytes[i]);
  }
  static void look_up(const std::int8_t* table, const std::uint8_t* packed, std::int8_t* codes) {
    for (int i = 0; i < 16; ++i) codes[i] = table[packed[i] & 15];
    for (int i = 0; i < 16; ++i) codes[i + 16] = table[packed[i] >> 4];
  }
  static void read_fives(const std::uint8_t* packed, std::uint32_t high, int zero,
                         std::int8_t* codes) {
    for (int i = 0; i < 32; ++i) {
      const int nibble = i < 16 ? packed[i] & 15 : packed[i - 16] >> 4;
      const int fifth = static_cast<int>(high >> i & 1u) << 4;
      codes[i] = static_cast<std::int8_t>((nibble | fifth) - zero);
    }
  }
};

template <class Block, gguf::DType type>
void fill_blocks(const std::byte* rows, std::size_t row_bytes, int columns, int begin, int depth,
                 const BlockPanel& panel) {
  constexpr BlockForm kForm = block_form(type);
  const int block_count = depth / kBlockInputs;
  rows += static_cast<std::size_t>(begin / Block::kValues) * sizeof(Block);
  for (int c = 0; c < kPanelColumns; ++c, rows += row_bytes) {
    std::int8_t codes[kPanelDepth] = {};
    float scales[kPanelDepth] = {}, offsets[kPanelDepth] = {};
    if (c < columns) {
      const auto* row = reinterpret_cast<const Block*>(rows);
      CodeReader<Words>::read_row(row, depth, codes);
      CodeReader<Words>::read_row_scales(row, depth, kForm.part_count, scales, offsets);
    }
    for (int k = 0; k < depth; ++k) {
      panel.codes[k * kPanelColumns + c] = static_cast<std::uint8_t>(codes[k]);
    }
    for (int i = 0; i < block_count * kForm.part_count; ++i) {
      panel.scales[i * kPanelColumns + c] = scales[i];
    }
    for (int i = 0; kForm.has_offsets && i < block_count; ++i) {
      panel.offsets[i * kPanelColumns + c] = offsets[i];
    }
  }
}

void quantise_block(const float* x, BlockInput& block) {
  float largest = 0;
  for (int i = 0; i < kBlockInputs; ++i) {
    if (!(fabsf(x[i]) <= largest) && largest == largest) largest = fabsf(x[i]);  // keeps a NaN
  }
  block.scale = largest / 127.0f;
  // A block of (almost) nothing becomes zeros, so that no quotient overflows.
  const float factor = largest < 0x1p-100f ? 0.0f : 127.0f / largest;
  int sums[2] = {};
  for (int i = 0; i < kBlockInputs; ++i) {
    const float code = nearbyintf(x[i] * factor);
    block.values[i] = fabsf(code) <= 127 ? static_cast<std::int8_t>(code) : std::int8_t{0};
    sums[i / 16] += block.values[i];
  }
  for (int half = 0; half < 2; ++half) block.bases[half] = -128 * sums[half];
  block.bases[2] = -128 * (sums[0] + sums[1]);
  block.sum = block.scale * static_cast<float>(sums[0] + sums[1]);
}

void quantise(const float* x, int count, BlockInput* blocks) {
  for (int i = 0; i < count; i += kBlockInputs) quantise_block(x + i, *blocks++);
}

void multiply_blocks(const BlockInput* x, std::size_t x_stride, int rows, const BlockPanel& panel,
                     BlockForm form, int block_count, float* out, std::size_t out_stride,
                     bool accumulate) {
  const int part_inputs = kBlockInputs / form.part_count;
  for (int row = 0; row < rows; ++row, x += x_stride, out += out_stride) {
    for (int c = 0; c < kPanelColumns && !accumulate; ++c) out[c] = 0;
    for (int part = 0; part < block_count * form.part_count; ++part) {
      const BlockInput& inputs = x[part / form.part_count];
      const std::int8_t* values = inputs.values + part % form.part_count * part_inputs;
      const std::uint8_t* codes = panel.codes + part * part_inputs * kPanelColumns;
      int dots[kPanelColumns] = {};
      for (int i = 0; i < part_inputs; ++i, codes += kPanelColumns) {
        for (int c = 0; c < kPanelColumns; ++c) {
          dots[c] += values[i] * static_cast<std::int8_t>(codes[c]);
        }
      }
      for (int c = 0; c < kPanelColumns; ++c) {
        out[c] +=
            static_cast<float>(dots[c]) * panel.scales[part * kPanelColumns + c] * inputs.scale;
      }
      for (int c = 0; c < kPanelColumns && form.has_offsets; ++c) {
        out[c] += panel.offsets[part * kPanelColumns + c] * inputs.sum;
      }
    }
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

void delta_token(float* state, std::size_t state_stride, const DeltaTokens& tokens, int token) {
  const float *q = tokens.q.row(token), *k = tokens.k.row(token), *v = tokens.v.row(token);
  const float decay = *tokens.decay.row(token), beta = *tokens.beta.row(token);
  float* out = tokens.out + static_cast<std::size_t>(token) * tokens.out_stride;
  for (int c = 0; c < tokens.columns; ++c) {
    float* column = state + c;
    float recalled = 0;  // S^T k
    for (int i = 0; i < tokens.width; ++i) {
      float& cell = column[static_cast<std::size_t>(i) * state_stride];
      cell *= decay;
      recalled += cell * k[i];
    }
    const float update = beta * (v[c] - recalled);
    float sum = 0;
    for (int i = 0; i < tokens.width; ++i) {
      float& cell = column[static_cast<std::size_t>(i) * state_stride];
      cell += k[i] * update;
      sum += cell * q[i];
    }
    out[c] = sum;
  }
}

void delta_rule(float* state, std::size_t state_stride, const DeltaTokens& tokens) {
  for (int token = 0; token < tokens.count; ++token) {
    delta_token(state, state_stride, tokens, token);
  }
}

void convolve_silu(const float* const* rows, const float* taps, int tap_count, int token_count,
                   int channels, float* out, std::size_t out_stride) {
  for (int token = 0; token < token_count; ++token, out += out_stride) {
    for (int c = 0; c < channels; ++c) {
      float sum = 0;
      for (int t = 0; t < tap_count; ++t) sum += taps[t * channels + c] * rows[token + t][c];
      out[c] = sum * sigmoid(sum);
    }
  }
}

template <gguf::DType type>
void set_fills(Table& table) {
  table.fill_panel[static_cast<int>(type)] = fill_panel<type>;
  table.fill_pairs[static_cast<int>(type)] = fill_pairs<type>;
}

template <gguf::DType type, class Block>
void set_all_fills(Table& table) {
  set_fills<type>(table);
  table.fill_blocks[static_cast<int>(type)] = fill_blocks<Block, type>;
}

}  // namespace

void improve(Table& table) {
  using gguf::DType;
  set_fills<DType::f32>(table);
  set_fills<DType::f16>(table);
  set_fills<DType::bf16>(table);
  set_all_fills<DType::q4_0, gguf::BlockQ4_0>(table);
  set_all_fills<DType::q4_1, gguf::BlockQ4_1>(table);
  set_all_fills<DType::q5_0, gguf::BlockQ5_0>(table);
  set_all_fills<DType::q5_1, gguf::BlockQ5_1>(table);
  set_all_fills<DType::q8_0, gguf::BlockQ8_0>(table);
  set_all_fills<DType::q4_K, gguf::BlockQ4_K>(table);
  set_all_fills<DType::q5_K, gguf::BlockQ5_K>(table);
  set_all_fills<DType::q6_K, gguf::BlockQ6_K>(table);
  set_all_fills<DType::iq4_nl, gguf::BlockIq4Nl>(table);
  set_all_fills<DType::iq4_xs, gguf::BlockIq4Xs>(table);
  table.multiply_panel = multiply_panel;
  table.round_pairs = round_pairs;
  table.multiply_pairs = multiply_pairs;
  table.quantise = quantise;
  table.multiply_blocks = multiply_blocks;
  table.dot = dot;
  table.add_scaled = add_scaled;
  table.rms_norm = rms_norm;
  table.l2_norm = l2_norm;
  table.layer_norm = layer_norm;
  table.softmax = softmax;
  table.swiglu = swiglu;
  table.gelu = gelu;
  table.geglu = geglu;
  table.sigmoid_gate = sigmoid_gate;
  table.rotate_halves = rotate_halves;
  table.delta_rule = delta_rule;
  table.convolve_silu = convolve_silu;
}

}  // namespace adjudge::kernel::scalar
