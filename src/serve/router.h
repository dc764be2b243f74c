// From method and path to a handler. What no route takes is refused here.
#pragma once

#include <string>
#include <vector>

#include "adjudge/result.h"
#include "serve/http.h"

namespace adjudge::serve {

struct Route {
  std::string method;
  std::string path;
  HttpHandler handle;
};

// HEAD is answered as GET (the server leaves the body out), OPTIONS with what is allowed; another
// path is 404, another method 405.
HttpHandler route_to(std::vector<Route> routes);

// For a proxy that forwards its own prefix: "/decide/v1/models" is "/v1/models" where the base path
// is "/decide". Paths without it stay as they are.
HttpHandler under(std::string base_path, HttpHandler next);
// What is wrong with a base path; empty, it is none. Another than a client can send would never be
// met, and nobody would be told.
Status check_base_path(const std::string& base_path);

}  // namespace adjudge::serve
