// For tests of readouts: a file with a few tensors, opened with kernels and a crew.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "gguf/file.h"
#include "kernel/table.h"
#include "nn/context.h"
#include "support/gguf_writer.h"
#include "support/support.h"

namespace adjudge::testing {

class TestHead {
 public:
  explicit TestHead(const GgufWriter& writer) {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/head.gguf";
    writer.write(path);
    auto file = gguf::File::open(path);  // stays mapped when the folder goes
    if (!file.ok()) {
      ADD_FAILURE() << file.error().message();
      std::abort();
    }
    file_ = std::move(file).value();
    weights_ = make_mapped_weights(*file_);
  }

  const gguf::File& file() const { return *file_; }
  WeightSource& weights() { return *weights_; }
  NetContext net() { return {&kernels_, &pool_, weights_.get()}; }

 private:
  std::unique_ptr<gguf::File> file_;
  std::unique_ptr<WeightSource> weights_;
  kernel::Table kernels_ = kernel::make_table(isa_limit());
  WorkerPool pool_{2};
};

inline HiddenRows rows_of(const std::vector<float>& values, int width) {
  HiddenRows rows(width);
  for (std::size_t begin = 0; begin < values.size(); begin += at(width)) {
    const std::span<float> row = rows.add_row();
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(begin), width, row.begin());
  }
  return rows;
}

// The plain truth: row . x in double precision; matrix is (rows, x.size()).
inline double exact_dot(const std::vector<float>& matrix, int row, std::span<const float> x) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum += static_cast<double>(matrix[at(row) * x.size() + i]) * static_cast<double>(x[i]);
  }
  return sum;
}

}  // namespace adjudge::testing
