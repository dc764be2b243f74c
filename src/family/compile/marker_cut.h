// The lengths that question and options of a marker prompt are cut to, as in training. Arithmetic
// on token ids.
// Reference: build_inputs of Laya; fill_task_laya in llama.cpp's server-decision.cpp.
#pragma once

#include <optional>
#include <vector>

#include "base/token.h"
#include "protocol/answer.h"

namespace adjudge {

struct MarkerTokens {
  Token separator = 0;
  Token marker = 0;
};

struct MarkerLimits {
  int head_tokens_max = 0;    // question and options, nearly
  int prompt_tokens_max = 0;  // the state is cut at its end to fit
};

struct MarkerCut {
  Tokens tokens;
  std::vector<int> markers;  // positions in tokens, one per option
  Truncation truncation;
};

// Nothing when the tokens are not a prompt of `option_count` options.
std::optional<MarkerCut> cut_marker_prompt(const Tokens& tokens, int option_count,
                                           const MarkerTokens& special, const MarkerLimits& limits);

}  // namespace adjudge
