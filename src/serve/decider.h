// The port through which the server reaches a model. Behind it stands the whole way from requests
// to answers; in tests, a few lines.
#pragma once

#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "adjudge/result.h"
#include "protocol/answer.h"
#include "protocol/request.h"

namespace adjudge::serve {

class Decider;

// A request made ready for a pass. What the decider adds to it is the decider's own.
struct Prepared {
  virtual ~Prepared() = default;
  Request request;
  int token_count = 0;                     // that it takes by itself
  std::shared_ptr<const Decider> decider;  // the one that prepared it; kept for as long as it waits
};
using PreparedPtr = std::unique_ptr<Prepared>;

class Decider : public std::enable_shared_from_this<Decider> {
 public:
  virtual ~Decider() = default;

  // Or why it can never be answered. Pure; called from several threads at once.
  virtual Result<PreparedPtr> prepare(Request request) const = 0;

  // One result per request, all from one pass, which may be given up when `stop` asks for it.
  virtual std::vector<Result<Response>> decide(std::span<const Prepared* const> requests,
                                               std::stop_token stop) const = 0;

  // Decides something, so that the first caller does not wait for pages and threads.
  virtual Status warm_up() const { return Done{}; }
  // False from the moment its file has changed: it answers nothing more.
  virtual bool usable() const { return true; }
};

}  // namespace adjudge::serve
