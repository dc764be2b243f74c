#include "protocol/decisions.h"

#include <algorithm>

#include "base/try.h"
#include "json/print.h"
#include "protocol/error_body.h"
#include "protocol/fault_list.h"

namespace adjudge {

namespace {

using json::Value;

// SGLang's questions say `question` where OpenAI's say `instructions`, and know yes_no.
bool is_sglang(const Value& body) {
  const Value* questions = body.find("questions");
  if (questions == nullptr) return false;
  return std::ranges::any_of(questions->items, [](const Value& question) {
    const Value* type = question.find("type");
    return question.find("question") != nullptr || (type != nullptr && type->text == "yes_no");
  });
}

Result<Ask> parse(std::string_view body, const RequestLimits& limits) {
  ADJ_TRY(Value value, json::parse(body, limits.json));
  return is_sglang(value) ? read_sglang_decisions(std::move(value), limits)
                          : read_openai_decisions(std::move(value), limits);
}

bool is_index(const std::string& step) {
  return !step.empty() && step.find_first_not_of("0123456789") == std::string::npos;
}

// "questions[2].choices"
Value param_of(const Path& path) {
  if (path.empty()) return json::null();
  std::string param;
  for (const std::string& step : path) {
    param += is_index(step) ? "[" + step + "]" : (param.empty() ? "" : ".") + step;
  }
  return json::string(param);
}

// OpenAI's envelope, and 400 where the fault is in the body.
SpelledError spell(const Error& error) {
  const bool unfit = error.kind == ErrorKind::bad_request || error.kind == ErrorKind::not_supported;
  const int status = unfit && status_of(error) == 422 ? 400 : status_of(error);
  const Fault& first = error.faults.front();
  const Value body =
      json::object({{"message", json::string(error.message())},
                    {"type", json::string(error_type_of(error))},
                    {"param", param_of(first.path)},
                    {"code", first.type.empty() ? json::null() : json::string(first.type)}});
  return {status, json::print(json::object({{"error", body}}), json::Flavour::compact)};
}

}  // namespace

const Dialect kDecisions = {parse, spell};

}  // namespace adjudge
