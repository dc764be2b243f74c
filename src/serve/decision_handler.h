// A decision over HTTP, in whatever dialect: parse, weigh, wait, print. Knows neither the dialect's
// words nor the model.
#pragma once

#include <string>
#include <string_view>

#include "protocol/limits.h"
#include "serve/decision_queue.h"
#include "serve/http.h"
#include "serve/work_pool.h"

namespace adjudge::serve {

// A wire format; protocol/ has a file for each.
struct Dialect {
  Result<Request> (*parse)(std::string_view body, const RequestLimits& limits);
  std::string (*print)(const Response& response, const Request& request);
};

// What decisions need; outlives every call.
struct DecisionDesk {
  const Decider& decider;
  RequestLimits limits;
  WorkPool& pool;
  DecisionQueue& queue;
};

HttpHandler decision_handler(const Dialect& dialect, const DecisionDesk& desk);

}  // namespace adjudge::serve
