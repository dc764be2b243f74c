// The System One dialect, put together.
#include "protocol/systemone.h"

#include "base/try.h"
#include "protocol/error_body.h"

namespace adjudge {

namespace {

Result<Ask> parse_ask(std::string_view body, const RequestLimits& limits) {
  ADJ_TRY(Request request, parse_systemone(body, limits));
  Ask ask{.print = print_answered};
  ask.requests.push_back(std::move(request));
  return ask;
}

}  // namespace

std::string print_answered(std::span<const Answered> answered) {
  return print_systemone(*answered.front().response, *answered.front().request);
}

const Dialect kSystemOne = {parse_ask, spell_error};

}  // namespace adjudge
