#include "readout/label.h"

#include "readout/log_sum_exp.h"

namespace adjudge {

Result<Matrix> open_token_head(WeightSource& weights, int vocabulary_count, int width) {
  const char* name = weights.has("output.weight") ? "output.weight" : "token_embd.weight";
  return weights.matrix(name, vocabulary_count, width);
}

LabelReadout::LabelReadout(const Matrix& head, std::span<const Tokens> groups) : head_(head) {
  for (const Tokens& group : groups) {
    CHECK(!group.empty());
    selected_.insert(selected_.end(), group.begin(), group.end());
    group_ends_.push_back(count_of(selected_));
  }
}

Result<std::vector<double>> LabelReadout::logits(const NetContext& net,
                                                 const HiddenRows& rows) const {
  CHECK(rows.count() == 1 && rows.width() == head_.columns);
  const std::span<const float> last = rows.row(0);
  std::vector<float> input(last.begin(), last.end());
  std::vector<float> output(selected_.size());
  multiply_selected(net, {input.data(), 1, count_of(input), input.size()}, head_, selected_,
                    {output.data(), 1, count_of(output), output.size()});
  std::vector<double> logits;
  std::size_t begin = 0;
  for (const int end : group_ends_) {
    logits.push_back(log_sum_exp(std::span<const float>(output).subspan(begin, at(end) - begin)));
    begin = at(end);
  }
  return logits;
}

}  // namespace adjudge
