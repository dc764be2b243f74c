// Requests of known shapes about states nobody has seen: what speed is measured on. Knows no model.
#pragma once

#include <cstdint>
#include <span>

#include "protocol/request.h"

namespace adjudge::app {

struct RequestShape {
  const char* name;
  const char* about;
  int state_words;
  std::vector<Question> (*questions)(std::uint64_t seed);
  bool follows_up = false;  // on other questions about the same state, which are not timed
};
std::span<const RequestShape> request_shapes();

// The request of a shape that a seed stands for; of one that follows up, `before` is what comes
// first. Different seeds share nothing but the form.
Request make_request(const RequestShape& shape, std::uint64_t seed, bool before = false);

}  // namespace adjudge::app
