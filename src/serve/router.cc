#include "serve/router.h"

#include <memory>
#include <utility>

namespace adjudge::serve {

namespace {

std::string allowed_methods(const std::vector<Route>& routes, const std::string& path) {
  std::string allowed;
  for (const Route& route : routes) {
    if (route.path != path) continue;
    allowed += route.method == "GET" ? "GET, HEAD, " : route.method + ", ";
  }
  return allowed.empty() ? allowed : allowed + "OPTIONS";
}

const Route* find_route(const std::vector<Route>& routes, const HttpRequest& request) {
  const std::string& method = request.method == "HEAD" ? "GET" : request.method;
  for (const Route& route : routes) {
    if (route.path == request.path && route.method == method) return &route;
  }
  return nullptr;
}

// The answer where no handler has a say.
HttpResponse answer_without_route(const std::vector<Route>& routes, const HttpRequest& request) {
  const std::string allowed = allowed_methods(routes, request.path);
  if (allowed.empty()) return refusal(404, "not_found_error", "no such path");
  HttpResponse response = request.method == "OPTIONS" ? HttpResponse{.status = 204}
                                                      : refusal(405, "method_not_allowed_error",
                                                                "this path takes " + allowed);
  response.headers.push_back({"Allow", allowed});
  response.route = request.path;  // one of ours
  return response;
}

}  // namespace

HttpHandler route_to(std::vector<Route> routes) {
  return [routes = std::make_shared<const std::vector<Route>>(std::move(routes))](HttpCall call) {
    const Route* route = find_route(*routes, call.request);
    if (route == nullptr) return call.reply(answer_without_route(*routes, call.request));
    call.reply = [path = route->path, reply = std::move(call.reply)](HttpResponse response) {
      response.route = path;
      reply(std::move(response));
    };
    route->handle(std::move(call));
  };
}

HttpHandler under(std::string base_path, HttpHandler next) {
  while (base_path.ends_with('/')) base_path.pop_back();
  return [base_path = std::move(base_path), next = std::move(next)](HttpCall call) {
    std::string& path = call.request.path;
    const bool below = path.starts_with(base_path) && path.size() > base_path.size() &&
                       path[base_path.size()] == '/';
    if (below) path.erase(0, base_path.size());
    next(std::move(call));
  };
}

}  // namespace adjudge::serve
