// One set of questions asked of many states: answered with a line of JSON per state, in order,
// while the later ones are still being decided. A row that fails says so in its own line.
#pragma once

#include "serve/decision_handler.h"

namespace adjudge::serve {

HttpHandler batch_handler(DecisionDesk& desk);

}  // namespace adjudge::serve
