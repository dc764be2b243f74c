// The table of everything this server answers.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "serve/decision_handler.h"
#include "serve/models_page.h"
#include "serve/router.h"

namespace adjudge::serve {

// What the answers are made from; outlives the routes.
struct Site {
  DecisionDesk& desk;
  const Dialect& systemone;  // whose System One /v1/systemone speaks
  std::span<const ModelCard> cards;
  std::function<std::vector<int>()> loaded;  // places of the cards of models in memory
  std::function<std::string()> metrics;
  std::string version;
  std::string openapi;
};

std::vector<Route> make_routes(const Site& site);

}  // namespace adjudge::serve
