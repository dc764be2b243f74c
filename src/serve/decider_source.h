// Where deciders come from: one model, or a shelf of several.
#pragma once

#include <memory>
#include <string>

#include "serve/decider.h"

namespace adjudge::serve {

class DeciderSource {
 public:
  virtual ~DeciderSource() = default;
  // The one a request means by that name, or: not here (kUnknownModelFault), or not yet
  // (unavailable). Never waits; called from several threads at once.
  virtual Result<std::shared_ptr<const Decider>> find(const std::string& model) = 0;
  // Whether a request would be decided now.
  virtual bool ready() const = 0;
};

}  // namespace adjudge::serve
