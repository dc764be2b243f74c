#include "readout/pointer.h"

#include <cmath>
#include <numeric>

#include "base/try.h"

namespace adjudge {

Result<PointerHead> open_pointer_head(WeightSource& weights, int output_count, int hidden_width) {
  CHECK(output_count > 0 && output_count % 2 == 0);
  ADJ_TRY(const Matrix weight, weights.matrix("cls.output.weight", output_count, hidden_width));
  ADJ_TRY(const std::span<const float> bias, weights.vector("cls.output.bias", output_count));
  return PointerHead{weight, bias, output_count / 2};
}

std::vector<float> PointerReadout::project(const NetContext& net, const HiddenRows& rows, int begin,
                                           int count, int first) const {
  std::vector<float> input;  // (count, hidden)
  for (int i = begin; i < begin + count; ++i) {
    const std::span<const float> row = rows.row(i);
    input.insert(input.end(), row.begin(), row.end());
  }
  std::vector<int> selected(at(head_.width));
  std::iota(selected.begin(), selected.end(), first);
  std::vector<float> output(at(count) * at(head_.width));  // (count, width)
  multiply_selected(net, {input.data(), count, rows.width(), at(rows.width())}, head_.weight,
                    selected, {output.data(), count, head_.width, at(head_.width)});
  for (std::size_t i = 0; i < output.size(); ++i) {
    output[i] += head_.bias[at(first) + i % at(head_.width)];
  }
  return output;
}

Result<std::vector<double>> PointerReadout::logits(const NetContext& net,
                                                   const HiddenRows& rows) const {
  CHECK(rows.count() >= 2 && rows.width() == head_.weight.columns);
  const int option_count = rows.count() - 1;
  const std::vector<float> query = project(net, rows, option_count, 1, 0);
  const std::vector<float> keys = project(net, rows, 0, option_count, head_.width);
  std::vector<double> logits;
  for (int option = 0; option < option_count; ++option) {
    const float* key = keys.data() + at(option) * at(head_.width);
    double dot = 0;
    for (std::size_t i = 0; i < query.size(); ++i) {
      dot += static_cast<double>(query[i]) * static_cast<double>(key[i]);
    }
    logits.push_back(dot / std::sqrt(head_.width));
  }
  return logits;
}

}  // namespace adjudge
