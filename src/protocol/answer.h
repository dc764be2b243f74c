// What goes back: probabilities in the order of the request's options, and what it cost.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "protocol/request.h"

namespace adjudge {

// Tokens of a text that was longer than the model was trained with.
struct CutText {
  int token_count = 0;
  int kept_count = 0;
  bool is_cut() const { return kept_count < token_count; }
};

// What the model did not get to see of a question.
struct Truncation {
  CutText question;
  CutText state;
  std::vector<int> options_cut;    // ascending
  std::vector<int> options_alike;  // differ from another option only in what was cut; ascending
  bool any() const { return question.is_cut() || state.is_cut() || !options_cut.empty(); }
};

// How an answer came out when its options were asked in several orders.
struct OrderReport {
  int count = 1;               // orders asked
  int flip_count = 0;          // of those, where another option was best than in the first
  std::vector<double> spread;  // of each option's probability over the orders
};

struct Answer {
  std::string id;
  QuestionKind kind = QuestionKind::choice;
  std::vector<double> probabilities;  // one per option; of a noul: false, true
  double value = 0;                   // noul: P(yes); score: expected level; choice: unused
  int best = 0;                       // the first of the most probable options
  double confidence = 0;              // choice and score; see calibrate/calibration.h
  Truncation truncation;
  double temperature = 1;                   // that the logits were divided by
  std::vector<std::vector<double>> logits;  // of every reading, in its own order of the options
  // Where it was wished for and labels are tokens: what they hold together of the probability of
  // the whole vocabulary, at temperature 1; the mean of the readings.
  std::optional<double> label_mass;
  std::optional<OrderReport> orders;

  // Of a noul: how far from a coin. Others carry their own.
  double sureness() const {
    return kind == QuestionKind::noul ? std::abs(2 * value - 1) : confidence;
  }
};

struct Usage {
  int input_tokens = 0;   // each shared token once, whatever was kept or asked together
  int prompt_tokens = 0;  // what the prompts would take one by one
  // What was evaluated for it: less when a beginning was kept. Tokens that several requests of a
  // pass share count for one of them.
  int evaluated_tokens = 0;

  Usage& operator+=(const Usage& other) {
    input_tokens += other.input_tokens;
    prompt_tokens += other.prompt_tokens;
    evaluated_tokens += other.evaluated_tokens;
    return *this;
  }
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

  // Whether the model read less of some question than was sent.
  bool truncated() const {
    return std::ranges::any_of(answers,
                               [](const Answer& answer) { return answer.truncation.any(); });
  }
};

}  // namespace adjudge
