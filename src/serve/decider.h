// The port through which the server reaches a model. Behind it stands the whole way from requests
// to answers; in tests, a few lines.
#pragma once

#include <span>
#include <stop_token>
#include <vector>

#include "adjudge/result.h"
#include "protocol/answer.h"
#include "protocol/request.h"

namespace adjudge::serve {

class Decider {
 public:
  virtual ~Decider() = default;

  // The tokens a request takes by itself, or why it can never be answered. Pure; called from
  // several threads at once.
  virtual Result<int> weigh(const Request& request) const = 0;

  // One result per request, all from one pass, which may be given up when `stop` asks for it.
  virtual std::vector<Result<Response>> decide(std::span<const Request> requests,
                                               std::stop_token stop) const = 0;
};

}  // namespace adjudge::serve
