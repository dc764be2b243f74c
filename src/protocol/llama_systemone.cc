// llama-server's System One: the same words, other numbers.
#include "base/try.h"
#include "json/print.h"
#include "protocol/error_body.h"
#include "protocol/fault_list.h"
#include "protocol/systemone.h"

namespace adjudge {

namespace {

std::string print(std::span<const Answered> answered) {
  Response response = *answered.front().response;
  response.usage.input_tokens = response.usage.prompt_tokens;
  return print_systemone(response, *answered.front().request);
}

// What the hosted contract answers and llama-server does not.
void refuse_unlike(const Question& question, FaultList& faults) {
  if (question.instructions.is_null()) {
    faults.refuse(member_path(question, "instructions"), "missing", "instructions are required");
  }
  if (question.kind == QuestionKind::score) {
    faults.check_count(member_path(question, "criteria"), question.options.size(), 2,
                       RequestLimits{}.level_count_max, "levels");
  }
}

Result<Ask> parse(std::string_view body, const RequestLimits& limits) {
  ADJ_TRY(Ask ask, kSystemOne.parse(body, limits));
  FaultList faults(limits.fault_count_max);
  for (const Question& question : ask.requests.front().questions) refuse_unlike(question, faults);
  if (!faults.empty()) return std::move(faults).error();
  ask.print = print;
  return ask;
}

struct Words {
  int status;
  const char* type;
};

Words words_of(const Error& error) {
  const std::string& fault = error.faults.front().type;
  if (fault == "extra_forbidden") return {501, "not_supported_error"};  // media
  if (fault == kUnknownModelFault) return {400, "invalid_request_error"};
  switch (error.kind) {
    case ErrorKind::bad_request:
      return {400, "invalid_request_error"};
    case ErrorKind::not_supported:
      return fault == kMediaTypeFault ? Words{415, kMediaTypeFault}
                                      : Words{501, "not_supported_error"};
    case ErrorKind::too_large:
      // Over a size limit of the body, or over what the model holds.
      return fault == "too_long" ? Words{413, "request_too_large_error"}
                                 : Words{400, "exceed_context_size_error"};
    case ErrorKind::overloaded:
      return {429, "rate_limit_error"};
    case ErrorKind::unavailable:
      return {503, "unavailable_error"};
    default:
      return {status_of(error), "server_error"};
  }
}

SpelledError spell(const Error& error) {
  const auto [status, type] = words_of(error);
  return {
      status,
      json::print(json::object({{"error", json::object({{"code", json::integer(status)},
                                                        {"message", json::string(error.message())},
                                                        {"type", json::string(type)}})}}),
                  json::Flavour::compact)};
}

}  // namespace

const Dialect kLlamaSystemOne = {parse, spell};

}  // namespace adjudge
