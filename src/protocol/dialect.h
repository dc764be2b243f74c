// A wire format: bytes to requests, answers to bytes. One file each beside this one knows the
// words.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "adjudge/result.h"
#include "protocol/answer.h"
#include "protocol/limits.h"
#include "protocol/request.h"

namespace adjudge {

// A request that was answered.
struct Answered {
  const Request* request;
  const Response* response;
};

// What one body asks: one request, or several whose answers become one body again.
struct Ask {
  std::vector<Request> requests;  // at least one
  // Given all of them, in order.
  std::function<std::string(std::span<const Answered>)> print;
};

struct SpelledError {
  int status;
  std::string body;
};

struct Dialect {
  Result<Ask> (*parse)(std::string_view body, const RequestLimits& limits);
  SpelledError (*spell)(const Error& error);
};

}  // namespace adjudge
