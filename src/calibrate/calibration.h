// From logits to probabilities. Double precision throughout.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "adjudge/result.h"
#include "gguf/metadata.h"
#include "protocol/request.h"

namespace adjudge {

// How many options fall into which temperature bucket.
enum class BucketScheme {
  counts,  // "2" (n <= 2), "3_5" (n <= 5), "6_10" (n <= 10), "11"
  sizes,   // "small" (n <= 8), "mid" (n <= 26), "large"
};

// Temperatures and biases of a model, from its metadata (<arch>.decision.temperature.*) and its
// sidecar.
struct Calibration {
  std::map<std::string, double> temperatures;  // "choice.small", "score", ...
  std::map<std::string, std::vector<double>>
      biases;  // per kind ("noul": false, true; "score.5": five levels); added to logits / T
  BucketScheme buckets = BucketScheme::counts;

  // `<kind>.<bucket>`, else `<kind>`, else 1.
  double temperature(QuestionKind kind, int option_count) const;
  // Null when there is none for this kind and count.
  const std::vector<double>* bias(QuestionKind kind, int option_count) const;
};

Result<Calibration> read_calibration(const gguf::Metadata& metadata, BucketScheme buckets);

// exp((s - max s) / T), normalised. Refuses (bad_model) logits that are not finite.
Result<std::vector<double>> softmax(std::span<const double> logits, double temperature);

// TypeSafe's published confidences; sources in calibration.cc.
double choice_confidence(std::span<const double> probabilities);
double score_confidence(std::span<const double> probabilities);
int first_maximum(std::span<const double> values);
double expected_level(std::span<const double> probabilities);

}  // namespace adjudge
