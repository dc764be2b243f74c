// llama-server's System One: the same words, other numbers.
#include <algorithm>

#include "base/try.h"
#include "json/print.h"
#include "protocol/error_body.h"
#include "protocol/fault_list.h"
#include "protocol/systemone.h"

namespace adjudge {

namespace {

constexpr std::size_t kMediaCountMax = 8;
constexpr const char* kMediaFault = "extra_forbidden";

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

bool is_data_url(const json::Value& value) {
  return value.is_string() && value.text.starts_with("data:");
}

// llama-server looks at media before it says that its model sees none: what no model is given is a
// fault of the body, and comes from here as another fault.
Error judge_media(Error error, std::string_view body, const RequestLimits& limits) {
  const auto parsed = json::parse(body, limits.json);
  if (!parsed.ok()) return error;
  for (Fault& fault : error.faults) {
    if (fault.type != kMediaFault) continue;
    const std::string& name = fault.path.front();
    if (name == "videos") fault.type = "value_error";
    if (name != "images" && name != "files") continue;
    const json::Value& media = *parsed.value().find(name);
    const bool fits = media.is_array() && media.items.size() <= kMediaCountMax &&
                      std::ranges::all_of(media.items, is_data_url);
    if (fits) continue;
    fault = {fault.path, "value_error",
             name + " must be a list of at most " + std::to_string(kMediaCountMax) + " data URLs"};
  }
  return error;
}

Result<Ask> parse(std::string_view body, const RequestLimits& limits) {
  Result<Ask> read = kSystemOne.parse(body, limits);
  if (!read.ok()) return judge_media(read.error(), body, limits);
  Ask ask = std::move(read).value();
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
  const auto is_media = [](const Fault& each) { return each.type == kMediaFault; };
  // The model is to blame only where the body is in order.
  if (std::ranges::all_of(error.faults, is_media)) return {501, "not_supported_error"};
  const std::string& fault = error.faults.front().type;
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
