// The temperature keys are those of llama.cpp's converters (conversion/lev.py and its relatives);
// the confidences those TypeSafe publishes and llama.cpp's tools/server/server-decision.cpp
// computes.
#include "calibrate/calibration.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/size.h"
#include "base/try.h"
#include "gguf/quoted.h"
#include "json/print.h"

namespace adjudge {
namespace {

const char* bucket_name(BucketScheme scheme, int option_count) {
  switch (scheme) {
    case BucketScheme::counts:
      if (option_count <= 2) return "2";
      if (option_count <= 5) return "3_5";
      return option_count <= 10 ? "6_10" : "11";
    case BucketScheme::sizes:
      if (option_count <= 8) return "small";
      return option_count <= 26 ? "mid" : "large";
  }
  CHECK(false);
}

// The entry under `<kind>.<part>`, else the one under `<kind>`, else null.
template <class T>
const T* find_entry(const std::map<std::string, T>& entries, QuestionKind kind,
                    const std::string& part) {
  const std::string name = kind_name(kind);
  auto found = entries.find(name + "." + part);
  if (found == entries.end()) found = entries.find(name);
  return found == entries.end() ? nullptr : &found->second;
}

bool all_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

}  // namespace

double Calibration::temperature(QuestionKind kind, int option_count) const {
  const double* found = find_entry(temperatures, kind, bucket_name(buckets, option_count));
  return found == nullptr ? 1.0 : *found;
}

const std::vector<double>* Calibration::bias(QuestionKind kind, int option_count) const {
  const auto* found = find_entry(biases, kind, std::to_string(option_count));
  return found != nullptr && count_of(*found) == option_count ? found : nullptr;
}

Result<Calibration> read_calibration(const gguf::Metadata& metadata, BucketScheme buckets) {
  ADJ_TRY(const std::string_view architecture, metadata.string("general.architecture"));
  const std::string prefix = std::string(architecture) + ".decision.temperature.";
  Calibration calibration;
  calibration.buckets = buckets;
  for (const auto& [key, value] : metadata.entries()) {
    if (!key.starts_with(prefix)) continue;
    ADJ_TRY(const double temperature, metadata.real(key));
    if (!(temperature > 0) || !std::isfinite(temperature)) {
      return Error{ErrorKind::bad_model, "key " + gguf::quoted(key) + ": found " +
                                             json::python_repr(temperature) +
                                             ", expected a temperature above 0"};
    }
    calibration.temperatures[key.substr(prefix.size())] = temperature;
  }
  return calibration;
}

Result<std::vector<double>> softmax(std::span<const double> logits, double temperature) {
  CHECK(!logits.empty() && temperature > 0);
  if (!all_finite(logits)) {
    return Error{ErrorKind::bad_model,
                 "the network gave a logit that is not finite: its weights are damaged"};
  }
  const double top = *std::max_element(logits.begin(), logits.end());
  std::vector<double> values;
  double sum = 0;
  for (const double logit : logits) {
    values.push_back(std::exp((logit - top) / temperature));
    sum += values.back();
  }
  for (double& value : values) value /= sum;
  return values;
}

double choice_confidence(std::span<const double> probabilities) {
  if (probabilities.size() < 2) return 1;
  const double uniform = 1.0 / static_cast<double>(probabilities.size());
  const double largest = *std::max_element(probabilities.begin(), probabilities.end());
  return std::max(0.0, (largest - uniform) / (1 - uniform));
}

// One minus the mean distance from the most probable level, in units of what a uniform distribution
// has around the middle of the scale.
double score_confidence(std::span<const double> probabilities) {
  const int level_count = count_of(probabilities);
  if (level_count < 2) return 1;
  const int mode = first_maximum(probabilities);
  const double middle = (level_count - 1) / 2.0;
  double spread = 0;
  double uniform_spread = 0;
  for (int i = 0; i < level_count; ++i) {
    spread += probabilities[at(i)] * std::abs(i - mode);
    uniform_spread += std::abs(i - middle) / level_count;
  }
  return std::max(0.0, 1 - spread / uniform_spread);
}

int first_maximum(std::span<const double> values) {
  return static_cast<int>(std::max_element(values.begin(), values.end()) - values.begin());
}

double expected_level(std::span<const double> probabilities) {
  double sum = 0;
  for (int i = 0; i < count_of(probabilities); ++i) sum += i * probabilities[at(i)];
  return sum;
}

}  // namespace adjudge
