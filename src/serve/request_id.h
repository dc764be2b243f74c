// Names of requests: "req_" and 32 hex digits, never the same twice.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace adjudge::serve {

class RequestIds {
 public:
  RequestIds();
  std::string next();

 private:
  std::uint64_t process_;  // random, so that ids of two runs differ
  std::uint64_t count_ = 0;
};

// Whether a caller's own id may be echoed into headers and logs.
bool is_plain_id(std::string_view id);

}  // namespace adjudge::serve
