// From the readings of one question to its answer.
#pragma once

#include <span>
#include <vector>

#include "calibrate/calibration.h"
#include "family/family.h"
#include "protocol/answer.h"

namespace adjudge {

// `logits` holds one vector per reading of the plan.
Result<Answer> fold(const Question& question, const QuestionPlan& plan,
                    std::span<const std::vector<double>> logits, const Calibration& calibration);

// Fills what follows from an answer's probabilities: best, value, confidence.
void describe(const Question& question, Answer& answer);

}  // namespace adjudge
