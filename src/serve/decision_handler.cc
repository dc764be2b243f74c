#include "serve/decision_handler.h"

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "protocol/error_body.h"

namespace adjudge::serve {

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

HttpResponse error_response(const Error& error) {
  return {.status = status_of(error.kind), .body = print_error(error)};
}

HttpResponse overloaded_response(const Error& error, std::chrono::seconds wait) {
  HttpResponse response = error_response(error);
  response.headers.push_back({"Retry-After", std::to_string(wait.count())});
  return response;
}

HttpResponse decided_response(const Dialect& dialect, const Decided& decided, double parse_ms) {
  if (!decided.response.ok()) return error_response(decided.response.error());
  const Response& response = decided.response.value();
  const Timing& timing = response.timing;
  return {.body = dialect.print(response, decided.request),
          .phases = {{"parse", parse_ms},
                     {"queue", decided.wait_ms},
                     {"compile", timing.compile},
                     {"evaluate", timing.evaluate},
                     {"read", timing.read}},
          .note = "tokens=" + std::to_string(response.usage.input_tokens) +
                  " together=" + std::to_string(decided.together)};
}

// A body we would misread is refused by its header.
std::optional<HttpResponse> refuse_encoding(const HttpRequest& request) {
  const std::string_view coding = request.header("Content-Encoding");
  if (!coding.empty() && coding != "identity") {
    HttpResponse response =
        refusal(415, "unsupported_media_type_error", "the body is compressed; send it as it is");
    response.headers.push_back({"Accept-Encoding", "identity"});
    return response;
  }
  if (request.header("Content-Type").starts_with("multipart/")) {
    return refusal(415, "unsupported_media_type_error",
                   "this model reads text only; send the request as application/json");
  }
  return std::nullopt;
}

// On a pool thread: everything that can be refused is refused before the request waits, so that a
// wrong request is never told to come back later.
void admit(const Dialect& dialect, const DecisionDesk& desk,
           const std::shared_ptr<HttpCall>& call) {
  const auto begin = Clock::now();
  if (auto refused = refuse_encoding(call->request)) return call->reply(std::move(*refused));
  Result<Request> request = dialect.parse(call->request.body, desk.limits);
  if (!request.ok()) return call->reply(error_response(request.error()));
  call->request.body = {};
  const Result<int> weight = desk.decider.weigh(request.value());
  if (!weight.ok()) return call->reply(error_response(weight.error()));

  const double parse_ms = milliseconds_since(begin);
  const auto done = [&dialect, &desk, call, parse_ms](Decided decided) {
    desk.pool.submit([&dialect, call, parse_ms, decided = std::move(decided)] {
      call->reply(decided_response(dialect, decided, parse_ms));
    });
  };
  const Status admitted =
      desk.queue.submit({std::move(request).value(), weight.value(), call->gone, done});
  if (!admitted.ok()) {
    call->reply(overloaded_response(admitted.error(), desk.queue.expected_wait()));
  }
}

}  // namespace

HttpHandler decision_handler(const Dialect& dialect, const DecisionDesk& desk) {
  return [&dialect, &desk](HttpCall call) {
    auto shared = std::make_shared<HttpCall>(std::move(call));
    desk.pool.submit([&dialect, &desk, shared] {
      if (shared->gone.stop_requested()) {
        return shared->reply(error_response({ErrorKind::cancelled, "the caller has left"}));
      }
      admit(dialect, desk, shared);
    });
  };
}

}  // namespace adjudge::serve
