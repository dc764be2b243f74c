// From method and path to a handler. What no route takes is refused here.
#pragma once

#include <string>
#include <vector>

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

}  // namespace adjudge::serve
