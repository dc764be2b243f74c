#include "serve/routes.h"

#include <utility>

#include "protocol/systemone.h"

namespace adjudge::serve {

namespace {

constexpr Dialect kSystemOne = {parse_systemone, print_systemone};

// A body that never changes, answered without leaving the I/O thread.
HttpHandler page(std::string body) {
  return [body = std::move(body)](const HttpCall& call) { call.reply({.body = body}); };
}

}  // namespace

std::vector<Route> make_routes(const DecisionDesk& desk, std::string models_page) {
  return {
      {"POST", "/v1/systemone", decision_handler(kSystemOne, desk)},
      {"GET", "/v1/models", page(std::move(models_page))},
      {"GET", "/health", page(R"({"status":"ok"})")},
  };
}

}  // namespace adjudge::serve
