// NAME.adjudge.json beside the model NAME.gguf: what the file itself lacks.
//   {"family": "openjev", "temperatures": {"choice": 0.85, "choice.small": 1.2},
//    "biases": {"noul": [0.3, -0.3], "score.5": [0, 0, 0.1, 0, 0]}}
#pragma once

#include <optional>
#include <string>

#include "adjudge/result.h"
#include "calibrate/calibration.h"
#include "json/value.h"

namespace adjudge {

// Nothing when there is no such file; otherwise its content, checked.
Result<std::optional<json::Value>> read_sidecar(const std::string& model_path);

// These take what read_sidecar() returned.
// The family it names; empty when it names none.
std::string sidecar_family(const json::Value& sidecar);
// A kind whose temperatures or biases the sidecar gives loses all of those the file gave.
void apply_sidecar(const json::Value& sidecar, Calibration& calibration);

}  // namespace adjudge
