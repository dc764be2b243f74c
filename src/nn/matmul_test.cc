#include "nn/matmul.h"

#include "nn/nn_test.h"

namespace adjudge {
namespace {

using gguf::DType;

constexpr DType kTypes[] = {DType::f32,  DType::f16,    DType::bf16,  DType::q4_0, DType::q4_1,
                            DType::q5_0, DType::q5_1,   DType::q8_0,  DType::q4_K, DType::q5_K,
                            DType::q6_K, DType::iq4_nl, DType::iq4_xs};

// Bytes below 64 make every 16-bit float in any format positive and below 2; -> sums stay tame.
Matrix random_matrix(FakeWeights& weights, DType type, int rows, int columns) {
  const gguf::DTypeTraits& traits = gguf::traits_of(type);
  std::vector<std::byte> bytes;
  const std::size_t count = at(rows * (columns / traits.block_values) * traits.block_bytes);
  for (const float value : testing::bell(traits.name, count)) {
    bytes.push_back(static_cast<std::byte>(static_cast<int>(std::abs(value) * 5000) & 63));
  }
  return weights.add(type, std::move(bytes), rows, columns);
}

// One chain of sums, each rounded by 6e-8 of a partial sum.
constexpr double kExact = 5e-6;

void expect_product(const TestNet& net, const OwnedRows& x, const Matrix& matrix,
                    const OwnedRows& out, double tolerance = kExact) {
  for (int column = 0; column < matrix.rows; ++column) {
    const std::vector<float> weights = net.weights.row(matrix, column);
    for (int row = 0; row < x.count; ++row) {
      double sum = 0, size = 0;
      for (int k = 0; k < x.width; ++k) {
        const double term = wide(x.row(row)[k]) * wide(weights[at(k)]);
        sum += term;
        size += term * term;
      }
      ASSERT_NEAR(wide(out.row(row)[column]), sum, tolerance * std::sqrt(size) + 1e-30)
          << gguf::traits_of(matrix.type).name << " row " << row << " column " << column;
    }
  }
}

TEST(Multiply, RoundsLongSumsPanelByPanel) {
  TestNet net;
  OwnedRows weights("weights", 32, 8960), x("x", 4, 8960), out(4, 32);
  const Matrix matrix = net.weights.add(weights.values, 32, 8960);
  multiply(net.context, x.rows(), matrix, out.rows());
  double squares = 0;
  for (int row = 0; row < 4; ++row) {
    for (int column = 0; column < 32; ++column) {
      double sum = 0;
      for (int k = 0; k < 8960; ++k) sum += wide(x.row(row)[k]) * wide(weights.row(column)[k]);
      squares += std::pow((wide(out.row(row)[column]) - sum) / std::sqrt(8960.0), 2);
    }
  }
  // 3.7e-7; one chain of 8960 terms would be at 1.5e-6.
  EXPECT_LT(std::sqrt(squares / (4 * 32)), 7e-7);
}

// The laws hold in every precision; formats of each arithmetic take part.
class EveryPrecision : public ::testing::TestWithParam<Precision> {
 protected:
  // Activations are rounded to 8 bits (bf16) or to a 127th of their block's largest (int8), weights
  // to 8 bits in bf16: a hundredth of each term, of random signs.
  double tolerance() const { return GetParam() == Precision::f32 ? kExact : 0.06; }
};

TEST_P(EveryPrecision, AgreesWithTheDecodedMatrixInEveryFormat) {
  TestNet net(2, GetParam());
  for (const DType type : kTypes) {
    // More than one panel each way, the last of each short.
    const int columns = gguf::traits_of(type).block_values == 1 ? 777 : 768;
    const Matrix matrix = random_matrix(net.weights, type, 45, columns);
    OwnedRows x("x", 7, columns, 5), out(7, 45, 3);
    multiply(net.context, x.rows(), matrix, out.rows());
    expect_product(net, x, matrix, out, tolerance());
    EXPECT_TRUE(out.gaps_untouched());
  }
}

// Inputs that no arithmetic has to round: whole numbers up to 127, the largest in every block.
OwnedRows whole_numbers(int rows, int width) {
  OwnedRows x(rows, width);
  for (int row = 0; row < rows; ++row) {
    for (int k = 0; k < width; ++k) {
      x.row(row)[k] = k % 32 == 5 ? 127.0f : static_cast<float>((row * 31 + k * k) % 255 - 127);
    }
  }
  return x;
}

TEST_P(EveryPrecision, WholeNumbersAreNotRounded) {
  TestNet net(2, GetParam());
  for (const DType type : kTypes) {
    const bool exact = arithmetic_of(net.table, GetParam(), type) != kernel::Arithmetic::bf16;
    const Matrix matrix = random_matrix(net.weights, type, 45, 768);
    OwnedRows x = whole_numbers(7, 768), out(7, 45);
    multiply(net.context, x.rows(), matrix, out.rows());
    // In bf16 only the weights are.
    expect_product(net, x, matrix, out, exact || type == DType::bf16 ? kExact : 0.02);
  }
}

TEST_P(EveryPrecision, TakesRowsInAnyNumber) {
  TestNet net(2, GetParam());
  const Matrix matrix = random_matrix(net.weights, DType::q8_0, 70, 544);
  for (const int rows : {1, 2, 13, 64, 65, 130}) {
    OwnedRows x("x", rows, 544), out(rows, 70, 1);
    multiply(net.context, x.rows(), matrix, out.rows());
    expect_product(net, x, matrix, out, tolerance());
    EXPECT_TRUE(out.gaps_untouched());
  }
}

TEST_P(EveryPrecision, GivesARowTheSameBitsAloneAndInCompany) {
  TestNet net(2, GetParam());
  for (const DType type : {DType::q4_K, DType::q6_K, DType::q8_0, DType::f16}) {
    const Matrix matrix = random_matrix(net.weights, type, 75, 1024);
    OwnedRows x("x", 67, 1024), together(67, 75);
    multiply(net.context, x.rows(), matrix, together.rows());
    for (const int row : {0, 1, 12, 40, 63, 64, 66}) {
      OwnedRows alone(1, 75);
      multiply(net.context, x.rows(row, 1), matrix, alone.rows());
      EXPECT_EQ(alone.values, std::vector<float>(together.row(row), together.row(row) + 75));
    }
  }
}

TEST_P(EveryPrecision, GivesAGroupTheBitsOfItsMembers) {
  TestNet net(2, GetParam());
  const Matrix first = random_matrix(net.weights, DType::q4_K, 75, 512);
  const Matrix second = random_matrix(net.weights, DType::f16, 32, 512);
  const Matrix third = random_matrix(net.weights, DType::q6_K, 1, 512);
  OwnedRows x("x", 9, 512), a(9, 75), b(9, 32), c(9, 1), d(9, 75);
  const Product group[] = {{&first, a.rows()},
                           {&second, b.rows()},
                           {&third, c.rows()},
                           {.matrix = &first, .out = d.rows(), .exact = true}};
  multiply(net.context, x.rows(), group);
  for (const Product& product : group) {
    OwnedRows alone(9, product.out.width);
    const Product same{product.matrix, alone.rows(), product.exact};
    multiply(net.context, x.rows(), std::span(&same, 1));
    for (int row = 0; row < 9; ++row) {
      for (int i = 0; i < alone.width; ++i) ASSERT_EQ(alone.row(row)[i], product.out.row(row)[i]);
    }
  }
}

TEST_P(EveryPrecision, GivesTheSameBitsOnAnyNumberOfThreads) {
  std::vector<float> expected;
  for (const int threads : {1, 2, 3}) {
    TestNet net(threads, GetParam());
    const Matrix matrix = random_matrix(net.weights, DType::q5_K, 300, 768);
    OwnedRows x("x", 20, 768), out(20, 300);
    multiply(net.context, x.rows(), matrix, out.rows());
    if (threads == 1) expected = out.values;
    EXPECT_EQ(out.values, expected);
  }
}

TEST_P(EveryPrecision, ExactProductsAreThoseOfF32) {
  TestNet net(2, GetParam()), plain;
  const Matrix matrix = random_matrix(net.weights, DType::q4_K, 40, 512);
  random_matrix(plain.weights, DType::q4_K, 40, 512);
  OwnedRows x("x", 9, 512), found(9, 40), expected(9, 40);
  const Product product{.matrix = &matrix, .out = found.rows(), .exact = true};
  multiply(net.context, x.rows(), std::span(&product, 1));
  multiply(plain.context, x.rows(), matrix, expected.rows());
  EXPECT_EQ(found.values, expected.values);
}

INSTANTIATE_TEST_SUITE_P(Precision, EveryPrecision,
                         ::testing::Values(Precision::f32, Precision::bf16, Precision::int8,
                                           Precision::automatic));

TEST(Arithmetic, IsAFixedTableOfFormatAndInstructionSet) {
  using kernel::Arithmetic;
  kernel::Table none, both;
  both.fast_bf16 = both.fast_int8 = true;
  const auto all = [](const kernel::Table& table, Precision precision) {
    return std::vector{arithmetic_of(table, precision, DType::f16),
                       arithmetic_of(table, precision, DType::q4_K)};
  };
  using Pair = std::vector<Arithmetic>;
  EXPECT_EQ(all(both, Precision::automatic), (Pair{Arithmetic::bf16, Arithmetic::int8}));
  EXPECT_EQ(all(none, Precision::automatic), (Pair{Arithmetic::f32, Arithmetic::f32}));
  EXPECT_EQ(all(both, Precision::int8), (Pair{Arithmetic::bf16, Arithmetic::int8}));
  EXPECT_EQ(all(none, Precision::int8), (Pair{Arithmetic::f32, Arithmetic::int8}));
  EXPECT_EQ(all(none, Precision::bf16), (Pair{Arithmetic::bf16, Arithmetic::bf16}));
  EXPECT_EQ(all(both, Precision::f32), (Pair{Arithmetic::f32, Arithmetic::f32}));
}

TEST(Multiply, TakesAPartOfAMatrix) {
  TestNet net;
  const Matrix matrix = random_matrix(net.weights, DType::q8_0, 100, 64);
  OwnedRows x("x", 3, 64), whole(3, 100), part(3, 50);
  multiply(net.context, x.rows(), matrix, whole.rows());
  multiply(net.context, x.rows(), matrix.part(20, 70).part(10, 50), part.rows());
  for (int row = 0; row < 3; ++row) {
    for (int i = 0; i < 50; ++i) EXPECT_EQ(part.row(row)[i], whole.row(row)[30 + i]);
  }
}

TEST(Multiply, SelectsRowsWithTheBitsOfTheWholeProduct) {
  TestNet net;
  const Matrix matrix = random_matrix(net.weights, DType::q6_K, 200, 768);
  OwnedRows x("x", 5, 768), whole(5, 200);
  multiply(net.context, x.rows(), matrix, whole.rows());
  std::vector<int> selected;
  for (int i = 0; i < 45; ++i) selected.push_back(i * 71 % 200);
  OwnedRows some(5, 45, 2);
  multiply_selected(net.context, x.rows(), matrix, selected, some.rows());
  for (int row = 0; row < 5; ++row) {
    for (int i = 0; i < 45; ++i) {
      EXPECT_EQ(some.row(row)[i], whole.row(row)[selected[at(i)]]);
    }
  }
  EXPECT_TRUE(some.gaps_untouched());
}

TEST(Gather, DecodesRows) {
  TestNet net;
  for (const DType type : kTypes) {
    const Matrix matrix = random_matrix(net.weights, type, 10, 256);
    const int ids[] = {3, 0, 9, 3};
    OwnedRows out(4, 256, 1);
    gather(net.context, matrix, ids, out.rows());
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(net.weights.row(matrix, ids[i]), std::vector<float>(out.row(i), out.row(i) + 256));
    }
    EXPECT_TRUE(out.gaps_untouched());
  }
}

}  // namespace
}  // namespace adjudge
