#include "serve/router.h"

#include <algorithm>
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
  return response;
}

// What a path holds as it is (RFC 3986, 3.3); everything else is sent as % and two hex digits.
bool is_path_byte(char c) {
  const bool alphanumeric =
      (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return alphanumeric || std::string_view("-._~!$&'()*+,;=:@/").find(c) != std::string_view::npos;
}

bool is_hex_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool is_path(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_path_byte(text[i])) continue;
    const bool escaped = text[i] == '%' && i + 2 < text.size() && is_hex_digit(text[i + 1]) &&
                         is_hex_digit(text[i + 2]);
    if (!escaped) return false;
    i += 2;
  }
  return true;
}

}  // namespace

HttpHandler route_to(std::vector<Route> routes) {
  return [routes = std::make_shared<const std::vector<Route>>(std::move(routes))](HttpCall call) {
    const std::string& path = call.request.path;
    if (call.routed && std::ranges::count(*routes, path, &Route::path) > 0) call.routed(path);
    const Route* route = find_route(*routes, call.request);
    if (route == nullptr) return call.reply(answer_without_route(*routes, call.request));
    route->handle(std::move(call));
  };
}

HttpHandler under(std::string base_path, HttpHandler next) {
  return [base_path = std::move(base_path), next = std::move(next)](HttpCall call) {
    std::string& path = call.request.path;
    const bool below = path.starts_with(base_path) && path.size() > base_path.size() &&
                       path[base_path.size()] == '/';
    if (below) path.erase(0, base_path.size());
    next(std::move(call));
  };
}

Status check_base_path(const std::string& base_path) {
  if (base_path.empty()) return Done{};
  const auto refused = [&](const char* expected) {
    return Error{ErrorKind::bad_request, "base path \"" + base_path + "\": expected " + expected};
  };
  if (!base_path.starts_with('/')) return refused("a slash at its beginning, such as /decide");
  if (base_path.ends_with('/')) return refused("no slash at its end, such as /decide");
  const std::string closed = base_path + "/";
  for (const char* step : {"//", "/./", "/../"}) {
    if (closed.find(step) != std::string::npos) return refused("names between its slashes");
  }
  if (!is_path(base_path)) {
    return refused("what a path is sent as: no blank, no ? and #, anything unusual as %XX");
  }
  return Done{};
}

}  // namespace adjudge::serve
