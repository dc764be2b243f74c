// Every entry of every level this machine has, against a twin in double precision, at sizes around
// each vector width; and the law of table.h bit for bit: no output knows its company.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/size.h"
#include "kernel/stored_rows.h"
#include "kernel/table.h"
#include "support/support.h"

namespace adjudge::kernel {
namespace {

using testing::bell;
using Floats = std::vector<float>;

constexpr int kSizes[] = {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 100, 128, 257};
// f32 with sums of a few hundred terms of size 1, against double: some ten roundings of 6e-8 each.
constexpr double kTolerance = 2e-6;

class EveryIsa : public ::testing::TestWithParam<const char*> {
 protected:
  const Table table = make_table(GetParam());
};

std::vector<const char*> levels() {
  const LevelNames available = available_levels();
  return {available.names, available.names + available.count};
}

void expect_near(const Floats& found, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_NEAR(static_cast<double>(found[i]), expected[i], tolerance * (1 + std::abs(expected[i])))
        << "index " << i << " of " << found.size();
  }
}

double sum_of_squares(const Floats& x) {
  double sum = 0;
  for (const float value : x) sum += static_cast<double>(value) * static_cast<double>(value);
  return sum;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

std::vector<double> mapped(int count, const std::function<double(std::size_t)>& value) {
  std::vector<double> out;
  for (std::size_t i = 0; i < at(count); ++i) out.push_back(value(i));
  return out;
}

// --- weights

TEST_P(EveryIsa, FillsPanelsWithTheBitsOfTheFormatsDecoder) {
  for (const gguf::DTypeTraits& traits : gguf::all_dtypes()) {
    const int width = traits.block_values == 1 ? 779 : 1024;
    const testing::StoredRows stored(traits, kPanelColumns, width);
    for (const int columns : {1, 5, 16, 17, kPanelColumns}) {
      for (const int begin : {0, kPanelDepth}) {
        const int depth = std::min(kPanelDepth, width - begin);
        Aligned<float> panel(at(kPanelDepth * kPanelColumns));
        table.fill_panel[static_cast<int>(traits.type)](stored.bytes.data(), stored.row_bytes,
                                                        columns, begin, depth, panel.data());
        for (int c = 0; c < kPanelColumns; ++c) {
          const Floats expected = c < columns ? stored.row(c) : Floats(at(width), 0.0f);
          for (int k = 0; k < depth; ++k) {
            const float found = panel[at(k * kPanelColumns + c)];
            ASSERT_EQ(std::memcmp(&found, &expected[at(begin + k)], sizeof(float)), 0)
                << traits.name << " column " << c << " input " << begin + k << ": " << found
                << " for " << expected[at(begin + k)];
          }
        }
      }
    }
  }
}

TEST_P(EveryIsa, FillsEveryFormatOfThisProgram) {
  for (const gguf::DTypeTraits& traits : gguf::all_dtypes()) {
    EXPECT_NE(table.fill_panel[static_cast<int>(traits.type)], nullptr) << traits.name;
  }
}

// --- products

struct PanelProduct {
  int rows, depth, stride;
  Floats x, panel, out;

  PanelProduct(int row_count, int inner)
      : rows(row_count),
        depth(inner),
        stride(inner + 3),
        x(bell("x", at(row_count * stride))),
        panel(bell("panel", at(inner * kPanelColumns))),
        out(bell("out", at(row_count * kPanelColumns))) {}
};

TEST_P(EveryIsa, MultipliesPanels) {
  for (const int rows : {1, 2, 3, 5, 6, 7, 11, 12, 13, 25, 64}) {
    for (const int depth : {1, 7, 64, 512}) {
      for (const bool accumulate : {false, true}) {
        PanelProduct product(rows, depth);
        const Floats before = product.out;
        table.multiply_panel(product.x.data(), at(product.stride), rows, product.panel.data(),
                             depth, product.out.data(), kPanelColumns, accumulate);
        expect_near(product.out,
                    mapped(rows * kPanelColumns,
                           [&](std::size_t i) {
                             const std::size_t row = i / kPanelColumns, column = i % kPanelColumns;
                             double sum = accumulate ? static_cast<double>(before[i]) : 0;
                             for (std::size_t k = 0; k < at(depth); ++k) {
                               sum +=
                                   static_cast<double>(product.x[row * at(product.stride) + k]) *
                                   static_cast<double>(product.panel[k * kPanelColumns + column]);
                             }
                             return sum;
                           }),
                    kTolerance * std::sqrt(depth));  // partial sums are that large
      }
    }
  }
}

TEST_P(EveryIsa, ARowAloneHasTheBitsItHasInCompany) {
  PanelProduct product(29, 100);
  table.multiply_panel(product.x.data(), at(product.stride), product.rows, product.panel.data(),
                       product.depth, product.out.data(), kPanelColumns, false);
  for (int row = 0; row < product.rows; ++row) {
    Floats alone(kPanelColumns);
    table.multiply_panel(product.x.data() + row * product.stride, at(product.stride), 1,
                         product.panel.data(), product.depth, alone.data(), kPanelColumns, false);
    EXPECT_EQ(std::memcmp(alone.data(), product.out.data() + row * kPanelColumns,
                          kPanelColumns * sizeof(float)),
              0)
        << row;
  }
}

TEST_P(EveryIsa, AColumnHasTheSameBitsWhereverItStands) {
  const Floats x = bell("x", 64), weights = bell("weights", 64);
  Floats panel(64 * kPanelColumns);
  for (std::size_t k = 0; k < 64; ++k) {
    for (std::size_t c = 0; c < kPanelColumns; ++c) panel[k * kPanelColumns + c] = weights[k];
  }
  Floats out(kPanelColumns);
  table.multiply_panel(x.data(), 64, 1, panel.data(), 64, out.data(), kPanelColumns, false);
  for (const float value : out) EXPECT_EQ(value, out[0]);
}

TEST_P(EveryIsa, AccumulatesByAddingThePanelsSum) {
  PanelProduct product(7, 300);
  const Floats before = product.out;
  Floats sum(before.size()), together = before;
  const auto multiply = [&](float* out, bool accumulate) {
    table.multiply_panel(product.x.data(), at(product.stride), product.rows, product.panel.data(),
                         product.depth, out, kPanelColumns, accumulate);
  };
  multiply(sum.data(), false);
  multiply(together.data(), true);
  for (std::size_t i = 0; i < sum.size(); ++i) EXPECT_EQ(together[i], before[i] + sum[i]);
}

// --- rows

TEST_P(EveryIsa, Dots) {
  for (const int count : kSizes) {
    const Floats a = bell("a", at(count)), b = bell("b", at(count));
    double expected = 0;
    for (std::size_t i = 0; i < at(count); ++i) {
      expected += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    }
    expect_near({table.dot(a.data(), b.data(), count)}, {expected}, kTolerance);
  }
}

TEST_P(EveryIsa, AddsScaled) {
  for (const int count : kSizes) {
    const Floats x = bell("x", at(count)), before = bell("sum", at(count));
    Floats sum = before;
    table.add_scaled(sum.data(), x.data(), 0.7f, count);
    expect_near(sum,
                mapped(count,
                       [&](std::size_t i) {
                         return static_cast<double>(before[i]) +
                                static_cast<double>(0.7f) * static_cast<double>(x[i]);
                       }),
                kTolerance);
  }
}

TEST_P(EveryIsa, NormalisesByTheRootMeanSquare) {
  for (const int count : kSizes) {
    const Floats x = bell("x", at(count)), weight = bell("weight", at(count));
    const double scale = 1 / std::sqrt(sum_of_squares(x) / count + 1e-6);
    for (const float* factors : {weight.data(), static_cast<const float*>(nullptr)}) {
      Floats out = x;
      table.rms_norm(out.data(), factors, 1e-6f, count, out.data());
      expect_near(out,
                  mapped(count,
                         [&](std::size_t i) {
                           return static_cast<double>(x[i]) * scale *
                                  (factors == nullptr ? 1 : static_cast<double>(weight[i]));
                         }),
                  kTolerance);
    }
  }
}

TEST_P(EveryIsa, NormalisesByLength) {
  for (const int count : kSizes) {
    const Floats x = bell("x", at(count));
    const double scale = 1 / std::sqrt(sum_of_squares(x) + 1e-6);
    Floats out = x;
    table.l2_norm(out.data(), 1e-6f, count);
    expect_near(out,
                mapped(count, [&](std::size_t i) { return static_cast<double>(x[i]) * scale; }),
                kTolerance);
  }
}

TEST_P(EveryIsa, NormalisesByMeanAndVariance) {
  for (const int count : kSizes) {
    const Floats x = bell("x", at(count)), weight = bell("weight", at(count)),
                 bias = bell("bias", at(count));
    double mean = 0, variance = 0;
    for (const float value : x) mean += static_cast<double>(value) / count;
    for (const float value : x) variance += std::pow(static_cast<double>(value) - mean, 2) / count;
    for (const float* shift : {bias.data(), static_cast<const float*>(nullptr)}) {
      Floats out = x;
      table.layer_norm(out.data(), weight.data(), shift, 1e-5f, count, out.data());
      expect_near(out,
                  mapped(count,
                         [&](std::size_t i) {
                           return (static_cast<double>(x[i]) - mean) / std::sqrt(variance + 1e-5) *
                                      static_cast<double>(weight[i]) +
                                  (shift == nullptr ? 0 : static_cast<double>(bias[i]));
                         }),
                  kTolerance);
    }
  }
}

TEST_P(EveryIsa, TakesTheSoftmax) {
  for (const int count : kSizes) {
    Floats x = bell("x", at(count));
    for (float& value : x) value *= 10;
    const double largest = static_cast<double>(*std::max_element(x.begin(), x.end()));
    double sum = 0;
    for (const float value : x) sum += std::exp(static_cast<double>(value) - largest);
    const std::vector<double> expected = mapped(
        count, [&](std::size_t i) { return std::exp(static_cast<double>(x[i]) - largest) / sum; });
    table.softmax(x.data(), count);
    for (std::size_t i = 0; i < x.size(); ++i) {  // relative: small probabilities count too
      ASSERT_NEAR(static_cast<double>(x[i]) / expected[i], 1, 3e-6) << i << " of " << count;
    }
  }
}

TEST_P(EveryIsa, SoftmaxGivesZeroToWhatIsFarBelow) {
  Floats x{0, -1000, -100, -std::numeric_limits<float>::infinity(), 0};
  table.softmax(x.data(), 5);
  EXPECT_FLOAT_EQ(x[0], 0.5f);
  EXPECT_EQ(x[1], 0.0f);
  EXPECT_NEAR(x[2], 0.0f, 1e-40f);
  EXPECT_EQ(x[3], 0.0f);
}

TEST_P(EveryIsa, GatesThroughSwigluAndSigmoid) {
  for (const int count : kSizes) {
    Floats x = bell("x", at(count));
    for (float& value : x) value *= 20;
    const Floats y = bell("y", at(count));
    const auto wide = [](float value) { return static_cast<double>(value); };
    Floats swiglu = x, gated = y;
    table.swiglu(swiglu.data(), y.data(), count);
    table.sigmoid_gate(gated.data(), x.data(), count);
    const auto expect_mapped = [&](const Floats& found,
                                   const std::function<double(std::size_t)>& value) {
      expect_near(found, mapped(count, value), kTolerance);
    };
    expect_mapped(swiglu,
                  [&](std::size_t i) { return wide(x[i]) * sigmoid(wide(x[i])) * wide(y[i]); });
    expect_mapped(gated, [&](std::size_t i) { return wide(y[i]) * sigmoid(wide(x[i])); });
  }
}

double exact_gelu(float x) {
  const auto wide = static_cast<double>(x);
  return 0.5 * wide * std::erfc(-wide / std::sqrt(2.0));
}

TEST_P(EveryIsa, TakesTheExactGelu) {
  for (int i = -14000; i <= 14000; ++i) {
    const float x = static_cast<float>(i) * 1e-3f;
    float one = x;
    table.gelu(&one, 1);
    const double size = std::max(1.0, std::abs(static_cast<double>(x)));
    ASSERT_NEAR(static_cast<double>(one), exact_gelu(x), 1e-7 * size) << x;
  }
  for (const int count : kSizes) {
    const Floats x = bell("x", at(count)), y = bell("y", at(count));
    Floats gelu = x, geglu = x;
    table.gelu(gelu.data(), count);
    table.geglu(geglu.data(), y.data(), count);
    for (std::size_t i = 0; i < x.size(); ++i) {
      float one = x[i];
      table.gelu(&one, 1);
      EXPECT_EQ(gelu[i], one) << "an element knows where it stands: " << i;
      EXPECT_EQ(geglu[i], gelu[i] * y[i]);
    }
  }
}

TEST_P(EveryIsa, ExtremesOfGeluAreFinite) {
  Floats x{-1e30f, -200, -14, 14, 200, 1e30f, 0, std::numeric_limits<float>::quiet_NaN()};
  table.gelu(x.data(), count_of(x));
  EXPECT_EQ(x[0], 0.0f);
  EXPECT_EQ(x[1], 0.0f);
  EXPECT_NEAR(x[2], 0.0f, 1e-30f);
  EXPECT_EQ(x[3], 14.0f);
  EXPECT_EQ(x[4], 200.0f);
  EXPECT_EQ(x[5], 1e30f);
  EXPECT_EQ(x[6], 0.0f);
  EXPECT_TRUE(std::isnan(x[7]));
}

TEST_P(EveryIsa, ExponentialsKeepSevenDigitsOverTheirWholeRange) {
  double worst = 0;
  for (int i = -8700; i <= 8700; i += 3) {
    // sigmoid(x) / sigmoid(-x) = exp(x); taken where 1 + exp(x) rounds to exp(x) or to 1.
    const float x = static_cast<float>(i) * 0.01f;
    float one = 1;
    table.sigmoid_gate(&one, &x, 1);
    const double expected = sigmoid(static_cast<double>(x));
    worst = std::max(worst, std::abs(static_cast<double>(one) / expected - 1));
  }
  EXPECT_LT(worst, 3e-7);  // exp, one sum and one division
}

TEST_P(EveryIsa, ExtremesOfSwigluAreFinite) {
  Floats x{-1e30f, -200, -90, 90, 200, 1e30f};
  const Floats ones(x.size(), 1.0f);
  table.swiglu(x.data(), ones.data(), count_of(x));
  EXPECT_EQ(x[0], 0.0f);
  EXPECT_EQ(x[1], 0.0f);
  EXPECT_NEAR(x[2], 0.0f, 1e-30f);
  EXPECT_EQ(x[3], 90.0f);
  EXPECT_EQ(x[5], 1e30f);
}

TEST_P(EveryIsa, AnElementDoesNotKnowWhereItStands) {
  const Floats values = bell("values", 257), others = bell("others", 257);
  Floats swiglu = values, gated = values, sum = values;
  table.swiglu(swiglu.data(), others.data(), 257);
  table.sigmoid_gate(gated.data(), others.data(), 257);
  table.add_scaled(sum.data(), others.data(), 0.3f, 257);
  for (std::size_t i = 0; i < 257; ++i) {
    float one = values[i];
    table.swiglu(&one, &others[i], 1);
    EXPECT_EQ(one, swiglu[i]);
    one = values[i];
    table.sigmoid_gate(&one, &others[i], 1);
    EXPECT_EQ(one, gated[i]);
    one = values[i];
    table.add_scaled(&one, &others[i], 0.3f, 1);
    EXPECT_EQ(one, sum[i]);
  }
}

TEST_P(EveryIsa, RotatesHalves) {
  for (const int half : {1, 3, 8, 15, 16, 20, 32, 64}) {
    const Floats before = bell("x", at(2 * half)), angles = bell("angles", at(half));
    Floats x = before, cosines, sines;
    for (const float angle : angles) {
      cosines.push_back(std::cos(angle));
      sines.push_back(std::sin(angle));
    }
    table.rotate_halves(x.data(), cosines.data(), sines.data(), half);
    expect_near(x,
                mapped(2 * half,
                       [&](std::size_t i) {
                         const std::size_t j = i % at(half);
                         const auto low = static_cast<double>(before[j]),
                                    high = static_cast<double>(before[j + at(half)]),
                                    cosine = static_cast<double>(cosines[j]),
                                    sine = static_cast<double>(sines[j]);
                         return i < at(half) ? low * cosine - high * sine
                                             : low * sine + high * cosine;
                       }),
                kTolerance);
  }
}

// --- recurrences

// Tokens of one head, and room for what they answer.
struct DeltaCase {
  DeltaCase(int count, int width, int columns)
      : width_(width),
        columns_(columns),
        q(bell("q", at(count * width))),
        k(bell("k", at(count * width))),
        v(bell("v", at(count * columns))),
        out(at(count * columns)) {
    for (int token = 0; token < count; ++token) {
      make_table("scalar").l2_norm(k.data() + token * width, 1e-6f, width);
      decay.push_back(1 - 0.1f / static_cast<float>(token + 1));
      beta.push_back(0.8f / static_cast<float>(token + 2));
    }
  }

  // Some of them, for some columns.
  DeltaTokens tokens(int begin, int count, int column, int columns) {
    const auto width = at(width_), all = at(columns_);
    return {.count = count,
            .width = width_,
            .columns = columns,
            .q = {q.data() + begin * width_, width},
            .k = {k.data() + begin * width_, width},
            .v = {v.data() + begin * columns_ + column, all},
            .decay = {decay.data() + begin, 1},
            .beta = {beta.data() + begin, 1},
            .out = out.data() + begin * columns_ + column,
            .out_stride = all};
  }

 private:
  int width_;
  int columns_;

 public:
  Floats q, k, v, decay, beta, out;
};

// What a token answers, and the state after it, in double precision.
std::vector<double> exact_delta_token(const DeltaTokens& tokens, int token, std::size_t stride,
                                      std::vector<double>& state) {
  const auto of = [&](const TokenRows& rows, std::size_t i) {
    return static_cast<double>(rows.row(token)[i]);
  };
  std::vector<double> out(at(tokens.columns));
  for (std::size_t c = 0; c < out.size(); ++c) {
    double recalled = 0;
    for (std::size_t i = 0; i < at(tokens.width); ++i) {
      state[i * stride + c] *= of(tokens.decay, 0);
      recalled += state[i * stride + c] * of(tokens.k, i);
    }
    const double update = of(tokens.beta, 0) * (of(tokens.v, c) - recalled);
    for (std::size_t i = 0; i < at(tokens.width); ++i) {
      state[i * stride + c] += of(tokens.k, i) * update;
      out[c] += state[i * stride + c] * of(tokens.q, i);
    }
  }
  return out;
}

TEST_P(EveryIsa, FollowsTheDeltaRule) {
  constexpr int kTokens = 3;
  for (const int width : {1, 5, 16, 128}) {
    for (const int columns : {1, 8, 16, 17, 32, 40, 64, 81}) {
      const std::size_t stride = at(columns) + 3;
      DeltaCase own(kTokens, width, columns);
      Floats state = bell("state", at(width) * stride);
      std::vector<double> exact(state.begin(), state.end()), out_exact;
      const DeltaTokens tokens = own.tokens(0, kTokens, 0, columns);
      for (int token = 0; token < kTokens; ++token) {
        for (const double value : exact_delta_token(tokens, token, stride, exact)) {
          out_exact.push_back(value);
        }
      }
      table.delta_rule(state.data(), stride, tokens);
      expect_near(own.out, out_exact, 1e-5);
      expect_near(state, exact, kTolerance);
    }
  }
}

TEST_P(EveryIsa, ADeltaColumnDoesNotKnowItsSliceNorATokenItsCall) {
  constexpr int kTokens = 4, kWidth = 64, kColumns = 81;
  DeltaCase together(kTokens, kWidth, kColumns), alone(kTokens, kWidth, kColumns);
  const Floats before = bell("state", kWidth * kColumns);
  Floats state = before, state_alone = before;
  table.delta_rule(state.data(), kColumns, together.tokens(0, kTokens, 0, kColumns));
  for (int c = 0; c < kColumns; ++c) {
    for (int token = 0; token < kTokens; ++token) {
      table.delta_rule(state_alone.data() + c, kColumns, alone.tokens(token, 1, c, 1));
    }
  }
  EXPECT_EQ(together.out, alone.out);
  EXPECT_EQ(state, state_alone);
}

constexpr int kTaps = 4;

struct ConvolutionCase {
  ConvolutionCase(int token_count, int channel_count)
      : channels(channel_count),
        taps(bell("taps", at(kTaps * channels))),
        x(bell("rows", at((token_count + kTaps - 1) * channels))) {
    for (int i = 0; i < token_count + kTaps - 1; ++i) rows.push_back(x.data() + i * channels);
  }
  // Behind each token's channels two that nobody may write to.
  Floats answer(const Table& table, int token, int count) const {
    Floats out(at(count * (channels + 2)), -7.0f);
    table.convolve_silu(rows.data() + token, taps.data(), kTaps, count, channels, out.data(),
                        at(channels) + 2);
    return out;
  }

  int channels;
  Floats taps, x;
  std::vector<const float*> rows;
};

TEST_P(EveryIsa, ConvolvesDepthwise) {
  constexpr int kTokens = 6;
  for (const int channels : kSizes) {
    const ConvolutionCase own(kTokens, channels);
    std::vector<double> exact;
    for (int token = 0; token < kTokens; ++token) {
      for (int c = 0; c < channels; ++c) {
        double sum = 0;
        for (int t = 0; t < kTaps; ++t) {
          sum += static_cast<double>(own.taps[at(t * channels + c)]) *
                 static_cast<double>(own.rows[at(token + t)][c]);
        }
        exact.push_back(sum * sigmoid(sum));
      }
      exact.insert(exact.end(), 2, -7.0);
    }
    expect_near(own.answer(table, 0, kTokens), exact, kTolerance);
  }
}

TEST_P(EveryIsa, AConvolvedTokenDoesNotKnowItsCompany) {
  constexpr int kTokens = 7;
  const ConvolutionCase own(kTokens, 100);
  const Floats together = own.answer(table, 0, kTokens);
  for (int token = 0; token < kTokens; ++token) {
    const Floats alone = own.answer(table, token, 1);
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), together.begin() + token * 102)) << token;
  }
}

INSTANTIATE_TEST_SUITE_P(Level, EveryIsa, ::testing::ValuesIn(levels()),
                         [](const auto& level) { return std::string(level.param); });

TEST(Table, StopsAtTheLevelAskedFor) {
  EXPECT_STREQ(available_levels().names[0], "scalar");
  EXPECT_STREQ(make_table("scalar").isa, "scalar");
  EXPECT_STREQ(make_table().isa, levels().back());
}

}  // namespace
}  // namespace adjudge::kernel
