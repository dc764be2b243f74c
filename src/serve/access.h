// Who may ask: keys, and the names under which a browser may have found us.
#pragma once

#include <string>
#include <vector>

#include "serve/http.h"

namespace adjudge::serve {

struct AccessPolicy {
  std::vector<std::string> keys;     // empty: nobody is asked for one
  std::vector<std::string> origins;  // whose pages may ask; "*": any
  std::vector<std::string> hosts;    // further names this server goes by
  bool loopback = true;              // only this machine reaches us
};

// Looks at every call before `next` does. Whoever has a key takes turns as that key.
//  - A page of another origin is refused (403) unless its origin is listed; so is, on a loopback
//    address, a Host that is no name of this machine: a page whose name was bound to 127.0.0.1.
//  - Without a right key: 401, except for /health, /healthz and /ready, which say nothing.
//  - CORS headers are sent to listed origins alone.
HttpHandler guarded(AccessPolicy policy, HttpHandler next);

// Takes the same time whatever the texts have in common.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace adjudge::serve
