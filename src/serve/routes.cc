#include "serve/routes.h"

#include <utility>

#include "protocol/decisions.h"
#include "protocol/systemone.h"
#include "serve/batch_handler.h"
#include "serve/ollama_pages.h"
#include "serve/several_ways.h"

namespace adjudge::serve {

namespace {

// What Prometheus's text format is called.
constexpr const char* kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

// These answer without leaving the I/O thread: they wait for no pass and no pool.

HttpHandler page(std::string body) {
  return [body = std::move(body)](const HttpCall& call) { call.reply({.body = body}); };
}

HttpHandler readiness(const Site& site) {
  return [&site](const HttpCall& call) {
    if (site.desk.source.ready()) return call.reply({.body = R"({"status":"ready"})"});
    HttpResponse response = refusal(503, "unavailable_error", "the model is being loaded");
    response.headers.push_back({"Retry-After", "1"});
    call.reply(std::move(response));
  };
}

HttpHandler metrics(const Site& site) {
  return [&site](const HttpCall& call) {
    HttpResponse response{.body = site.metrics()};
    response.content_type = kMetricsType;
    call.reply(std::move(response));
  };
}

HttpHandler ollama_ps(const Site& site) {
  return [&site](const HttpCall& call) {
    call.reply({.body = print_ollama_ps(site.cards, site.loaded())});
  };
}

HttpHandler ollama_show(const Site& site) {
  return [&site](const HttpCall& call) {
    const ModelCard* card = find_ollama_card(site.cards, call.request.body);
    call.reply(card != nullptr ? HttpResponse{.body = print_ollama_show(*card)}
                               : refusal(404, "not_found_error", "no such model here"));
  };
}

}  // namespace

std::vector<Route> make_routes(const Site& site) {
  DecisionDesk& desk = site.desk;
  const std::string models = print_models_page(site.cards, desk.limits);
  return {
      {"POST", "/v1/systemone", decision_handler(site.systemone, desk)},
      {"POST", "/v1/systemone/batch", batch_handler(desk)},
      {"POST", "/v1/systemone/permute", decision_handler(kPermuted, desk)},
      {"POST", "/v1/systemone/separate", decision_handler(kSeparate, desk)},
      {"POST", "/v1/decisions", decision_handler(kDecisions, desk)},
      {"GET", "/v1/models", page(models)},
      {"GET", "/models", page(models)},
      {"GET", "/api/version", page(print_ollama_version(site.version))},
      {"GET", "/api/tags", page(print_ollama_tags(site.cards))},
      {"POST", "/api/show", ollama_show(site)},
      {"GET", "/api/ps", ollama_ps(site)},
      {"GET", "/health", page(R"({"status":"ok"})")},
      {"GET", "/healthz", page(R"({"status":"ok"})")},
      {"GET", "/ready", readiness(site)},
      {"GET", "/metrics", metrics(site)},
      {"GET", "/openapi.json", page(site.openapi)},
  };
}

}  // namespace adjudge::serve
