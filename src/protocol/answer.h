// What goes back: probabilities in the order of the request's options, and what it cost.
#pragma once

#include <string>
#include <vector>

#include "protocol/request.h"

namespace adjudge {

struct Answer {
  std::string id;
  QuestionKind kind = QuestionKind::choice;
  std::vector<double> probabilities;  // one per option; of a noul: false, true
  double value = 0;                   // noul: P(yes); score: expected level; choice: unused
  int best = 0;                       // the first of the most probable options
  double confidence = 0;              // choice and score; see calibrate/calibration.h
};

struct Usage {
  int input_tokens = 0;   // evaluated, each shared token once
  int prompt_tokens = 0;  // what the prompts would take one by one
};

struct Timing {         // milliseconds
  double compile = 0;   // text to tokens and plan
  double evaluate = 0;  // the network
  double read = 0;      // readout and calibration
};

struct Response {
  std::string model;
  std::vector<Answer> answers;  // in request order
  Usage usage;
  Timing timing;
};

}  // namespace adjudge
