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
