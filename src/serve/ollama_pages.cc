#include "serve/ollama_pages.h"

#include <array>
#include <chrono>
#include <cstdio>

#include "base/size.h"
#include "json/print.h"

namespace adjudge::serve {

namespace {

using json::Value;

std::string time_of(std::int64_t seconds) {
  const std::chrono::sys_seconds time{std::chrono::seconds(seconds)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  std::array<char, 40> text;
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02dZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text.data();
}

Value details_of(const ModelCard& card) {
  return json::object({{"parent_model", json::string("")},
                       {"format", json::string("gguf")},
                       {"family", json::string(card.backbone)},
                       {"families", json::array({json::string(card.backbone)})},
                       {"parameter_size", json::string("")},
                       {"quantization_level", json::string("")}});
}

std::vector<json::Member> members_of(const ModelCard& card) {
  return {{"name", json::string(card.id)},
          {"model", json::string(card.id)},
          {"size", json::integer(card.bytes)},
          {"digest", json::string(card.fingerprint)},
          {"details", details_of(card)}};
}

std::string print(Value value) { return json::print(value, json::Flavour::compact); }

}  // namespace

std::string print_ollama_version(const std::string& version) {
  return print(json::object({{"version", json::string(version)}}));
}

std::string print_ollama_tags(std::span<const ModelCard> cards) {
  std::vector<Value> models;
  for (const ModelCard& card : cards) {
    auto members = members_of(card);
    members.push_back({"modified_at", json::string(time_of(card.created))});
    models.push_back(json::object(std::move(members)));
  }
  return print(json::object({{"models", json::array(std::move(models))}}));
}

std::string print_ollama_show(const ModelCard& card) {
  const Value info =
      json::object({{"general.architecture", json::string(card.backbone)},
                    {card.backbone + ".context_length", json::integer(card.positions_max)},
                    {card.backbone + ".decision.type", json::string(card.family)}});
  return print(json::object({{"details", details_of(card)},
                             {"model_info", info},
                             {"capabilities", json::array({json::string("decision")})},
                             {"modified_at", json::string(time_of(card.created))}}));
}

std::string print_ollama_ps(std::span<const ModelCard> cards, std::span<const int> loaded) {
  std::vector<Value> models;
  for (const int index : loaded) {
    auto members = members_of(cards[at(index)]);
    members.push_back({"expires_at", json::string("0001-01-01T00:00:00Z")});  // never
    members.push_back({"size_vram", json::integer(0)});
    models.push_back(json::object(std::move(members)));
  }
  return print(json::object({{"models", json::array(std::move(models))}}));
}

const ModelCard* find_ollama_card(std::span<const ModelCard> cards, std::string_view body) {
  const Result<Value> parsed = json::parse(body);
  if (!parsed.ok()) return nullptr;
  const Value* name = parsed.value().find("model");
  if (name == nullptr) name = parsed.value().find("name");
  if (name == nullptr || !name->is_string()) return nullptr;
  const int place = find_card(cards, name->text);
  return place < 0 ? nullptr : &cards[at(place)];
}

}  // namespace adjudge::serve
