#include "protocol/error_body.h"

#include "base/check.h"
#include "json/print.h"

namespace adjudge {
namespace {

using json::Value;

constexpr int kUnprocessable = 422;

struct Spelling {
  int status;
  const char* type;    // of `error`
  const char* detail;  // error_type, or the fault's type, where the error itself names none
};

// One status, one meaning: 422 this request will never be answered here, 413 a smaller one would,
// 429 the same one later, 503 once the model is there, 504 with more time, 500 our side is broken.
Spelling spelling_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::bad_request:
      return {kUnprocessable, "invalid_request_error", "value_error"};
    case ErrorKind::not_supported:
      return {kUnprocessable, "not_supported_error", "not_supported"};
    case ErrorKind::too_large:
      return {413, "request_too_large_error", "max_tokens_exceeded"};
    case ErrorKind::overloaded:
      return {429, "rate_limit_error", "overloaded"};
    case ErrorKind::cancelled:
      return {499, "cancelled_error", "cancelled"};
    case ErrorKind::unavailable:
      return {503, "unavailable_error", "unavailable"};
    case ErrorKind::deadline:
      return {504, "timeout_error", "deadline"};
    case ErrorKind::bad_model:
      return {500, "server_error", "bad_model"};
    case ErrorKind::internal:
      return {500, "server_error", "internal"};
  }
  CHECK(false);
}

// Told apart by the fault's type: a model that is not here (the hosted service answers 400), and a
// body packed in a way we cannot unpack.
Spelling spelling_of(const Error& error) {
  if (error.faults.front().type == kUnknownModelFault) {
    return {400, "invalid_request_error", kUnknownModelFault};
  }
  if (error.faults.front().type == kMediaTypeFault) return {415, kMediaTypeFault, kMediaTypeFault};
  return spelling_of(error.kind);
}

Value type_of(const Fault& fault, const Spelling& spelling) {
  return json::string(fault.type.empty() ? spelling.detail : fault.type);
}

Value list_of(const std::vector<Fault>& faults, const Spelling& spelling) {
  std::vector<Value> entries;
  for (const Fault& fault : faults) {
    std::vector<Value> place = {json::string("body")};
    for (const std::string& step : fault.path) place.push_back(json::string(step));
    entries.push_back(json::object({{"loc", json::array(std::move(place))},
                                    {"msg", json::string(fault.message)},
                                    {"type", type_of(fault, spelling)}}));
  }
  return json::array(std::move(entries));
}

}  // namespace

int status_of(const Error& error) { return spelling_of(error).status; }

const char* error_type_of(const Error& error) { return spelling_of(error).type; }

std::string print_error(const Error& error) {
  const Spelling spelling = spelling_of(error);
  const Value message = json::string(error.message());
  const Value detail = spelling.status == kUnprocessable
                           ? list_of(error.faults, spelling)
                           : json::object({{"error_type", type_of(error.faults.front(), spelling)},
                                           {"message", message}});
  const Value summary = json::object({{"code", json::integer(spelling.status)},
                                      {"type", json::string(spelling.type)},
                                      {"message", message}});
  return json::print(json::object({{"detail", detail}, {"error", summary}}),
                     json::Flavour::compact);
}

SpelledError spell_error(const Error& error) { return {status_of(error), print_error(error)}; }

}  // namespace adjudge
