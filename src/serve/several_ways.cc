#include "serve/several_ways.h"

#include <algorithm>

#include "base/size.h"
#include "base/try.h"
#include "decide/option_orders.h"
#include "protocol/error_body.h"
#include "protocol/systemone.h"

namespace adjudge::serve {

namespace {

Status check_copies(std::size_t body_bytes, std::size_t ways, const RequestLimits& limits) {
  if (ways <= limits.copied_bytes_max / std::max<std::size_t>(body_bytes, 1)) return Done{};
  return Error{
      ErrorKind::too_large,
      {{{},
        "too_long",
        "a body of " + std::to_string(body_bytes) + " bytes asked in " + std::to_string(ways) +
            " ways is over " + std::to_string(limits.copied_bytes_max) + " bytes"}}};
}

std::string print_mean(const Request& request, std::span<const Answered> answered) {
  std::vector<const Response*> responses;
  for (const Answered& each : answered) responses.push_back(each.response);
  return print_systemone(mean_of_orders(request, responses, request.extras.order_count_max),
                         request);
}

Result<Ask> parse_permuted(std::string_view body, const RequestLimits& limits) {
  ADJ_TRY(const Request request, parse_systemone(body, limits));
  ADJ_TRY_DONE(check_copies(body.size(), at(request.extras.order_count_max), limits));
  return Ask{option_orders(request, request.extras.order_count_max),
             [](std::span<const Answered> answered) {
               return print_mean(*answered.front().request, answered);  // the first order's
             }};
}

std::string print_joined(std::span<const Answered> answered) {
  Request request = *answered.front().request;
  Response response = *answered.front().response;
  for (const Answered& each : answered.subspan(1)) {
    request.questions.push_back(each.request->questions.front());
    response.answers.push_back(each.response->answers.front());
    response.usage += each.response->usage;
  }
  return print_systemone(response, request);
}

Result<Ask> parse_separate(std::string_view body, const RequestLimits& limits) {
  ADJ_TRY(Request request, parse_systemone(body, limits));
  ADJ_TRY_DONE(check_copies(body.size(), request.questions.size(), limits));
  Ask ask{.print = print_joined};
  for (Question& question : request.questions) {
    Request alone{.model = request.model, .state = request.state, .extras = request.extras};
    alone.questions.push_back(std::move(question));
    ask.requests.push_back(std::move(alone));
  }
  return ask;
}

}  // namespace

const Dialect kPermuted = {parse_permuted, spell_error};
const Dialect kSeparate = {parse_separate, spell_error};

}  // namespace adjudge::serve
