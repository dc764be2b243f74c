// A decision over HTTP, in whatever dialect: parse, prepare, wait, print. Knows neither the
// dialect's words nor the model.
#pragma once

#include <functional>
#include <string>

#include "protocol/dialect.h"
#include "serve/decider_source.h"
#include "serve/decision_queue.h"
#include "serve/http.h"
#include "serve/work_pool.h"

namespace adjudge::serve {

// One request that was decided, or was not: for metrics and logs.
struct DecisionRecord {
  const std::string& id;  // of the HTTP request
  const Request& request;
  const Result<Response>& response;
  double wait_ms;
  int together;
};

// What decisions need; outlives every call.
struct DecisionDesk {
  // The queue hands its answers to the pool, and the pool's tasks submit to the queue. So the queue
  // ends while the pool is there, and is there until the pool's last task has run.
  ~DecisionDesk() { queue.close(); }

  DeciderSource& source;
  RequestLimits limits;
  std::function<void(const DecisionRecord&)> observe;  // from any thread; may be empty
  bool observer_waits = false;                         // for a disk: no pass should wait for it
  DecisionQueue queue;
  WorkPool pool;
};

// `dialect` outlives the handler too.
HttpHandler decision_handler(const Dialect& dialect, DecisionDesk& desk);

// What every way to decide has in common.

// The body as it was before it was packed, or the refusal.
Result<std::string> plain_body(HttpRequest& request, const RequestLimits& limits);
HttpResponse error_response(const Dialect& dialect, const Error& error);
// Tells those that may come again when.
HttpResponse error_response(const Dialect& dialect, const Error& error, const DecisionQueue& queue);
void observe(const DecisionDesk& desk, const std::string& id, const Decided& decided);

}  // namespace adjudge::serve
