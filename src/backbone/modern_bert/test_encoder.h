// What the tests of this folder share.
#pragma once

#include "backbone/sample.h"
#include "backbone/test_network.h"

namespace adjudge::testing {

// All rows of a sequence evaluated alone.
inline HiddenRows whole_sequence(const TestNetwork& network, const Tokens& tokens) {
  std::vector<int> wanted(tokens.size());
  std::iota(wanted.begin(), wanted.end(), 0);
  const auto memory = network.begin(count_of(tokens));
  return network.extend(*memory, {.tokens = tokens, .causal = false}, wanted);
}

}  // namespace adjudge::testing
