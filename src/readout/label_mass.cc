#include "readout/label_mass.h"

#include "base/size.h"
#include "readout/log_sum_exp.h"

namespace adjudge {
namespace {

// As many as a decoded panel is multiplied with at a time: more would only take more memory, of
// which a row takes as much as the vocabulary has tokens.
constexpr int kRowsTogether = 24;

}  // namespace

std::vector<double> vocabulary_log_sums(const NetContext& net, const Matrix& head,
                                        std::span<const std::span<const float>> rows) {
  std::vector<double> sums;
  std::vector<float> inputs, logits;
  for (; !rows.empty(); rows = rows.subspan(at(std::min(kRowsTogether, count_of(rows))))) {
    const int count = std::min(kRowsTogether, count_of(rows));
    inputs.clear();
    for (const std::span<const float> row : rows.first(at(count))) {
      CHECK(count_of(row) == head.columns);
      inputs.insert(inputs.end(), row.begin(), row.end());
    }
    logits.resize(at(count) * at(head.rows));
    const Product product{&head, {logits.data(), count, head.rows, at(head.rows)}, /*exact=*/true};
    multiply(net, {inputs.data(), count, head.columns, at(head.columns)}, {&product, 1});
    for (int i = 0; i < count; ++i) {
      sums.push_back(log_sum_exp(std::span<const float>(product.out.row(i), at(head.rows))));
    }
  }
  return sums;
}

double label_mass(std::span<const double> label_logits, double vocabulary_log_sum) {
  // Rounding may carry the labels past everything there is.
  return std::min(1.0, std::exp(log_sum_exp(label_logits) - vocabulary_log_sum));
}

}  // namespace adjudge
