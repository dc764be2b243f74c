#include "serve/decision_handler.h"

#include <chrono>
#include <memory>
#include <utility>

#include "base/size.h"
#include "base/try.h"
#include "protocol/error_body.h"
#include "serve/body_coding.h"

namespace adjudge::serve {

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// The first that failed speaks for all.
const Error* first_error(const Decided& decided) {
  for (const Result<Response>& response : decided.responses) {
    if (!response.ok()) return &response.error();
  }
  return nullptr;
}

// What is known of a call from its parsing to its answer.
struct Pending {
  const Dialect& dialect;
  DecisionDesk& desk;
  HttpCall call;
  std::function<std::string(std::span<const Answered>)> print;
  double parse_ms = 0;
};

HttpResponse decided_response(const Pending& pending, const Decided& decided) {
  if (const Error* error = first_error(decided)) {
    return error_response(pending.dialect, *error, pending.desk.queue);
  }
  std::vector<Answered> answered;
  int token_count = 0;
  bool truncated = false;
  for (std::size_t i = 0; i < decided.parts.size(); ++i) {
    const Response& response = decided.responses[i].value();
    answered.push_back({&decided.parts[i]->request, &response});
    token_count += response.usage.input_tokens;
    truncated |= response.truncated();
  }
  const Timing& timing = answered.front().response->timing;
  std::vector<Header> headers;
  if (truncated) headers.push_back({"x-truncated", "true"});
  return {.body = pending.print(answered),
          .headers = std::move(headers),
          .phases = {{"parse", pending.parse_ms},
                     {"queue", decided.wait_ms},
                     {"compile", timing.compile},
                     {"evaluate", timing.evaluate},
                     {"read", timing.read}},
          .note = "tokens=" + std::to_string(token_count) + " together=" +
                  std::to_string(decided.together) + (truncated ? " truncated" : "")};
}

void answer(const Pending& pending, const Decided& decided) {
  observe(pending.desk, pending.call.request.id, decided);
  pending.call.reply(decided_response(pending, decided));
}

// Everything that can be refused is refused before the request waits, so that a wrong request is
// never told to come back later.
Status admit(const std::shared_ptr<Pending>& pending) {
  const auto begin = Clock::now();
  DecisionDesk& desk = pending->desk;
  HttpCall& call = pending->call;
  ADJ_TRY(const std::string body, plain_body(call.request, desk.limits));
  ADJ_TRY(Ask ask, pending->dialect.parse(body, desk.limits));
  pending->print = std::move(ask.print);
  pending->parse_ms = milliseconds_since(begin);
  ADJ_TRY(const auto decider, desk.source.find(ask.requests.front().model));

  Waiting waiting{.client = call.request.client, .deadline = call.deadline, .gone = call.gone};
  for (Request& request : ask.requests) {
    ADJ_TRY(PreparedPtr prepared, decider->prepare(std::move(request)));
    waiting.parts.push_back(std::move(prepared));
  }
  // To print an answer takes less than to wake another thread for it.
  waiting.done = [pending](Decided decided) {
    if (!pending->desk.observer_waits) return answer(*pending, decided);
    auto shared = std::make_shared<Decided>(std::move(decided));
    pending->desk.pool.submit([pending, shared] { answer(*pending, *shared); });
  };
  return desk.queue.submit(std::move(waiting));
}

}  // namespace

Result<std::string> plain_body(HttpRequest& request, const RequestLimits& limits) {
  if (request.header("Content-Type").starts_with("multipart/")) {
    return Error{ErrorKind::not_supported,
                 {{{},
                   kMediaTypeFault,
                   "this model reads text only; send the request as application/json"}}};
  }
  return decode_body(request.header("Content-Encoding"), std::exchange(request.body, {}),
                     limits.json.bytes_max);
}

HttpResponse error_response(const Dialect& dialect, const Error& error) {
  SpelledError spelled = dialect.spell(error);
  HttpResponse response{.status = spelled.status, .body = std::move(spelled.body)};
  if (response.status == 415) response.headers.push_back({"Accept-Encoding", kBodyCodings});
  return response;
}

HttpResponse error_response(const Dialect& dialect, const Error& error,
                            const DecisionQueue& queue) {
  HttpResponse response = error_response(dialect, error);
  const bool later = error.kind == ErrorKind::overloaded || error.kind == ErrorKind::unavailable;
  if (later) {
    response.headers.push_back({"Retry-After", std::to_string(queue.expected_wait().count())});
  }
  return response;
}

void observe(const DecisionDesk& desk, const std::string& id, const Decided& decided) {
  if (!desk.observe) return;
  for (std::size_t i = 0; i < decided.parts.size(); ++i) {
    desk.observe(
        {id, decided.parts[i]->request, decided.responses[i], decided.wait_ms, decided.together});
  }
}

HttpHandler decision_handler(const Dialect& dialect, DecisionDesk& desk) {
  return [&dialect, &desk](HttpCall call) {
    auto pending = std::make_shared<Pending>(Pending{dialect, desk, std::move(call), {}});
    desk.pool.submit([pending] {
      const Status admitted = pending->call.gone.stop_requested()
                                  ? Status(Error{ErrorKind::cancelled, "the caller has left"})
                                  : admit(pending);
      if (admitted.ok()) return;
      pending->call.reply(error_response(pending->dialect, admitted.error(), pending->desk.queue));
    });
  };
}

}  // namespace adjudge::serve
