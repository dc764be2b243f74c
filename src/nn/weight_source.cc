#include "nn/weight_source.h"

#include <map>

#include "base/check.h"
#include "base/size.h"
#include "base/try.h"

namespace adjudge {

namespace {

class MappedWeights final : public WeightSource {
 public:
  explicit MappedWeights(const gguf::File& file) : file_(file) {}

  Result<Matrix> matrix(std::string_view name, int rows, int columns) override {
    ADJ_TRY(const gguf::Tensor* tensor, file_.tensor(name, {columns, rows}));
    return describe(*tensor, tensor->bytes, rows, columns);
  }

  Result<std::vector<Matrix>> matrices(std::string_view name, int count, int rows,
                                       int columns) override {
    ADJ_TRY(const gguf::Tensor* tensor, file_.tensor(name, {columns, rows, count}));
    const std::size_t slice_bytes = tensor->bytes.size() / at(count);
    std::vector<Matrix> slices;
    for (int i = 0; i < count; ++i) {
      const auto slice = tensor->bytes.subspan(at(i) * slice_bytes, slice_bytes);
      slices.push_back(describe(*tensor, slice, rows, columns));
    }
    return slices;
  }

  bool has(std::string_view name) const override { return file_.has(name); }

  Result<std::span<const float>> vector(std::string_view name, int count) override {
    if (const auto known = vectors_.find(name);
        known != vectors_.end() && known->second.size() == at(count)) {
      return std::span<const float>(known->second.span());
    }
    ADJ_TRY(const gguf::Tensor* tensor, file_.tensor(name));
    if (tensor->value_count() != count) {
      return Error{ErrorKind::bad_model, "tensor " + std::string(name) + " has " +
                                             std::to_string(tensor->value_count()) +
                                             " values, expected " + std::to_string(count)};
    }
    Aligned<float> values(at(count));
    const gguf::DTypeTraits& traits = gguf::traits_of(tensor->type);
    traits.decode(tensor->bytes.data(), at(count / traits.block_values), values.data());
    const auto added = vectors_.emplace(name, std::move(values)).first;
    return std::span<const float>(added->second.span());
  }

  const std::byte* acquire(const Matrix& matrix, int begin, int count) const override {
    DCHECK(begin >= 0 && begin + count <= matrix.rows);
    return matrices_[at(matrix.handle)] + at(matrix.first_row + begin) * matrix.row_bytes;
  }

  void release(const Matrix&, int, int) const override {}

  std::size_t bytes() const override {
    std::size_t sum = 0;
    for (const auto& [name, values] : vectors_) sum += values.bytes();
    return sum;
  }

 private:
  Matrix describe(const gguf::Tensor& tensor, std::span<const std::byte> bytes, int rows,
                  int columns) {
    matrices_.push_back(bytes.data());
    return Matrix{.type = tensor.type,
                  .rows = rows,
                  .columns = columns,
                  .row_bytes = bytes.size() / at(rows),
                  .handle = count_of(matrices_) - 1};
  }

  const gguf::File& file_;
  std::vector<const std::byte*> matrices_;  // by handle
  std::map<std::string, Aligned<float>, std::less<>> vectors_;
};

}  // namespace

std::unique_ptr<WeightSource> make_mapped_weights(const gguf::File& file) {
  return std::make_unique<MappedWeights>(file);
}

}  // namespace adjudge
