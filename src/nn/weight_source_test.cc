#include "nn/weight_source.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/size.h"
#include "support/gguf_writer.h"
#include "support/support.h"

namespace adjudge {
namespace {

// A file with a matrix (6 rows of 4), a stack of two (3 rows of 4 each), a vector of 24 and a
// Q8_0 matrix (2 rows of 32).
class MappedWeights : public ::testing::Test {
 protected:
  MappedWeights() {
    const std::string path = folder_.path() + "/weights.gguf";
    testing::GgufWriter("qwen3")
        .tensor("matrix.weight", {4, 6}, values_)
        .tensor("stack.weight", {4, 3, 2}, values_)
        .tensor("taps.weight", {4, 6}, values_)
        .tensor("small.weight", gguf::DType::q8_0, {32, 2}, std::string(68, '\0'))
        .write(path);
    file_ = gguf::File::open(path).value();
    weights_ = make_mapped_weights(*file_);
  }

  std::vector<float> row(const Matrix& matrix, int index) const {
    std::vector<float> values(at(matrix.columns));
    std::memcpy(values.data(), weights_->acquire(matrix, index, 1), matrix.row_bytes);
    weights_->release(matrix, index, 1);
    return values;
  }
  std::vector<float> expected(int row) const {
    return {values_.begin() + row * 4, values_.begin() + row * 4 + 4};
  }

  testing::TemporaryFolder folder_;
  const std::vector<float> values_ = testing::bell("values", 24);
  std::unique_ptr<gguf::File> file_;
  std::unique_ptr<WeightSource> weights_;
};

TEST_F(MappedWeights, DescribesMatricesAndGivesTheirRows) {
  const Matrix matrix = weights_->matrix("matrix.weight", 6, 4).value();
  EXPECT_TRUE(matrix.present());
  EXPECT_EQ(matrix.rows, 6);
  EXPECT_EQ(matrix.row_bytes, 4 * sizeof(float));
  for (int i = 0; i < 6; ++i) EXPECT_EQ(row(matrix, i), expected(i));
  EXPECT_EQ(row(matrix.part(2, 3), 1), expected(3));
  EXPECT_EQ(weights_->matrix("small.weight", 2, 32).value().row_bytes, 34u);
  EXPECT_FALSE(Matrix().present());
}

TEST_F(MappedWeights, CutsAStackIntoItsMatrices) {
  const std::vector<Matrix> stack = weights_->matrices("stack.weight", 2, 3, 4).value();
  ASSERT_EQ(stack.size(), 2u);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(row(stack[at(i / 3)], i % 3), expected(i));
}

TEST_F(MappedWeights, DecodesAVectorOnce) {
  const std::span<const float> taps = weights_->vector("taps.weight", 24).value();
  EXPECT_EQ(std::vector<float>(taps.begin(), taps.end()), values_);
  EXPECT_EQ(weights_->vector("taps.weight", 24).value().data(), taps.data());
  EXPECT_EQ(weights_->bytes(), 24 * sizeof(float));
}

TEST_F(MappedWeights, KnowsWhatIsThere) {
  EXPECT_TRUE(weights_->has("matrix.weight"));
  EXPECT_FALSE(weights_->has("matrix.bias"));
}

void expect_error(const Error& error, std::initializer_list<const char*> words) {
  EXPECT_EQ(error.kind, ErrorKind::bad_model);
  for (const char* word : words) EXPECT_NE(error.message().find(word), std::string::npos) << word;
}

TEST_F(MappedWeights, NamesWhatDoesNotFit) {
  expect_error(weights_->matrix("absent.weight", 6, 4).error(), {"absent.weight"});
  expect_error(weights_->matrix("matrix.weight", 4, 6).error(),
               {"matrix.weight", "{4, 6}", "{6, 4}"});
  expect_error(weights_->matrices("stack.weight", 3, 2, 4).error(),
               {"stack.weight", "{4, 3, 2}", "{4, 2, 3}"});
  expect_error(weights_->vector("taps.weight", 25).error(), {"taps.weight", "24", "25"});
  expect_error(weights_->vector("absent.bias", 25).error(), {"absent.bias"});
}

}  // namespace
}  // namespace adjudge
