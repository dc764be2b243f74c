#include "serve/http.h"

#include <algorithm>

#include "json/print.h"

namespace adjudge::serve {

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::string_view HttpRequest::header(std::string_view name) const {
  const auto same = [](char a, char b) { return lower(a) == lower(b); };
  for (const Header& header : headers) {
    if (std::ranges::equal(header.name, name, same)) return header.value;
  }
  return {};
}

RequestTarget read_target(std::string_view target) {
  const auto same = [](char a, char b) { return lower(a) == b; };
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!std::ranges::equal(target.substr(0, scheme.size()), scheme, same)) continue;
    const std::string_view rest = target.substr(scheme.size());
    const std::string_view authority = rest.substr(0, rest.find_first_of("/?"));
    if (authority.empty()) break;
    const std::string_view path = read_target(rest.substr(authority.size())).path;
    return {path.empty() ? "/" : path, authority};
  }
  return {target.substr(0, target.find('?')), {}};
}

HttpResponse refusal(int status, std::string_view type, std::string_view message) {
  const json::Value text = json::string(message);
  const json::Value detail = json::object({{"error_type", json::string(type)}, {"message", text}});
  const json::Value error = json::object(
      {{"code", json::integer(status)}, {"type", json::string(type)}, {"message", text}});
  HttpResponse response{.status = status};
  response.body =
      json::print(json::object({{"detail", detail}, {"error", error}}), json::Flavour::compact);
  return response;
}

}  // namespace adjudge::serve
