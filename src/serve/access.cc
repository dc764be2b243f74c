#include "serve/access.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "base/size.h"

namespace adjudge::serve {

namespace {

constexpr std::array<std::string_view, 3> kOpenPaths = {"/health", "/healthz", "/ready"};
constexpr std::string_view kBearer = "Bearer ";
constexpr const char* kExposed =
    "x-request-id, x-typesafe-request-id, server-timing, retry-after, retry-after-ms";

// Without a port and an IPv6 address's brackets.
std::string_view host_of(std::string_view authority) {
  if (authority.starts_with('[')) return authority.substr(1, authority.find(']') - 1);
  return authority.substr(0, authority.find(':'));
}

bool is_loopback_name(std::string_view host) {
  return host == "localhost" || host.ends_with(".localhost") || host == "::1" ||
         (host.starts_with("127.") &&
          host.find_first_not_of("0123456789.") == std::string_view::npos);
}

std::string_view authority_of(std::string_view origin) {
  const std::size_t scheme = origin.find("://");
  return scheme == std::string_view::npos ? std::string_view{} : origin.substr(scheme + 3);
}

bool holds(const std::vector<std::string>& list, std::string_view text) {
  return std::ranges::find(list, text) != list.end();
}

bool listed(const AccessPolicy& policy, std::string_view origin) {
  return holds(policy.origins, origin) || holds(policy.origins, "*");
}

std::optional<HttpResponse> refuse_names(const AccessPolicy& policy, const HttpRequest& request) {
  const std::string_view host = request.header("Host");
  const std::string_view name = host_of(host);
  if (policy.loopback && !host.empty() && !is_loopback_name(name) && !holds(policy.hosts, name)) {
    return refusal(403, "permission_error",
                   "this server does not go by that Host; name it with --allow-host");
  }
  const std::string_view origin = request.header("Origin");
  if (origin.empty() || listed(policy, origin)) return std::nullopt;
  const std::string_view authority = authority_of(origin);
  const bool ours = !authority.empty() && authority == host;
  if (ours || (policy.loopback && is_loopback_name(host_of(authority)))) return std::nullopt;
  return refusal(403, "permission_error",
                 "pages of this origin may not ask here; allow it with --cors");
}

// The key's number from 1; zero: none of ours. Looks at every key, whichever fits.
int key_number(const AccessPolicy& policy, std::string_view authorization) {
  if (!authorization.starts_with(kBearer)) return 0;
  const std::string_view key = authorization.substr(kBearer.size());
  int number = 0;
  for (int i = 0; i < count_of(policy.keys); ++i) {
    if (equal_in_constant_time(policy.keys[at(i)], key)) number = i + 1;
  }
  return number;
}

HttpResponse unauthorized() {
  HttpResponse response =
      refusal(401, "authentication_error", "a key is needed: Authorization: Bearer KEY");
  response.headers.push_back({"WWW-Authenticate", "Bearer"});
  return response;
}

void allow_origin(std::string_view origin, HttpResponse& response) {
  response.headers.push_back({"Access-Control-Allow-Origin", std::string(origin)});
  response.headers.push_back({"Access-Control-Expose-Headers", kExposed});
  response.headers.push_back({"Vary", "Origin"});
}

// A browser asks first, without a key.
HttpResponse preflight(const HttpRequest& request) {
  HttpResponse response{.status = 204};
  response.headers.push_back({"Access-Control-Allow-Methods", "GET, HEAD, POST, OPTIONS"});
  const std::string_view headers = request.header("Access-Control-Request-Headers");
  if (!headers.empty()) {
    response.headers.push_back({"Access-Control-Allow-Headers", std::string(headers)});
  }
  response.headers.push_back({"Access-Control-Max-Age", "600"});
  return response;
}

}  // namespace

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const char other = a.empty() ? '\0' : a[i % a.size()];
    difference |= static_cast<unsigned char>(other ^ b[i]);
  }
  return difference == 0;
}

HttpHandler guarded(AccessPolicy policy, HttpHandler next) {
  return [policy = std::make_shared<const AccessPolicy>(std::move(policy)),
          next = std::move(next)](HttpCall call) {
    const HttpRequest& request = call.request;
    if (auto refused = refuse_names(*policy, request)) return call.reply(std::move(*refused));
    const std::string origin(request.header("Origin"));
    if (!origin.empty() && listed(*policy, origin)) {
      call.reply = [origin, reply = std::move(call.reply)](HttpResponse response) {
        allow_origin(origin, response);
        reply(std::move(response));
      };
      const bool asks =
          request.method == "OPTIONS" && !request.header("Access-Control-Request-Method").empty();
      if (asks) return call.reply(preflight(request));
    }
    const bool open =
        policy->keys.empty() || std::ranges::find(kOpenPaths, request.path) != kOpenPaths.end();
    if (!open) {
      const int number = key_number(*policy, request.header("Authorization"));
      if (number == 0) return call.reply(unauthorized());
      call.request.client = "key " + std::to_string(number);
    }
    next(std::move(call));
  };
}

}  // namespace adjudge::serve
