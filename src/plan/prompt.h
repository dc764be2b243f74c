// What a family asks the engine to evaluate: token ids and the positions somebody reads.
#pragma once

#include <vector>

#include "base/token.h"

namespace adjudge {

struct Prompt {
  Tokens tokens;                 // at least one
  std::vector<int> token_types;  // empty, or one per token
  std::vector<int> wanted;       // ascending positions whose final-norm rows are read
  bool causal = true;            // an encoder's prompt shares nothing: every row sees all of it
  // Token counts, ascending, after which other prompts are likely to go on differently (the end of
  // the family's opening words, the end of the state): what lies before is worth keeping.
  std::vector<int> borders;
};

}  // namespace adjudge
