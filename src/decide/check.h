// Replays recorded requests and compares: prompt ids first, then probabilities. The format is one
// JSON object per line with `body` (the request as text), `status`, `response`, and optionally
// `id`, `model`, `prompts` (each with `ids`) and `response_dequantised`.
#pragma once

#include <string>
#include <vector>

#include "decide/decide.h"
#include "json/value.h"

namespace adjudge {

struct CheckOptions {
  CompileOptions compile;
  std::string against = "response";  // the member that holds the recorded answers
  bool any_model = false;            // also lines recorded from a model of another name
  std::vector<std::string>
      exceptions;  // ids that begin with one of these are only run, not compared
};

enum class CheckOutcome {
  compared,        // answered, as recorded
  refused,         // a caller's error here, and not recorded as an answer to compare with
  answered,        // recorded as an error, and answered here
  excepted,        // run, and not compared
  other_model,     // not run
  ids_differ,      // a prompt has other token ids
  wrongly_refused  // recorded as an answer, and refused here
};

struct CheckedLine {
  std::string id;
  CheckOutcome outcome = CheckOutcome::compared;
  double difference = 0;  // the largest of a probability, a noul or a score
  std::string place;      // of that difference: "team.probabilities.billing"; or what is wrong
};

// `line` must be an object of the form above.
Result<CheckedLine> check_line(const Model& model, const json::Value& line,
                               const CheckOptions& options);

}  // namespace adjudge
