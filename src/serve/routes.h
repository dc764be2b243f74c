// The table of everything this server answers.
#pragma once

#include <string>
#include <vector>

#include "serve/decision_handler.h"
#include "serve/router.h"

namespace adjudge::serve {

// `desk` outlives the routes.
std::vector<Route> make_routes(const DecisionDesk& desk, std::string models_page);

}  // namespace adjudge::serve
