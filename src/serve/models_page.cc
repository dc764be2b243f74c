#include "serve/models_page.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <string_view>

#include "json/print.h"

namespace adjudge::serve {

namespace {

using json::Value;

constexpr std::array<std::string_view, 2> kAliases = {"jev-latest", "jev-preview"};
// Ollama's clients ask for "name:latest".
constexpr std::string_view kLatest = ":latest";

std::string date_of(std::int64_t seconds) {
  const std::chrono::sys_seconds time{std::chrono::seconds(seconds)};
  const std::chrono::year_month_day day{std::chrono::floor<std::chrono::days>(time)};
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02u", static_cast<int>(day.year()),
                static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()));
  return text.data();
}

Value aliases(const ModelCard& card, bool first) {
  std::vector<Value> names;
  for (const std::string& name : card.other_names) names.push_back(json::string(name));
  if (first) {
    for (const std::string_view alias : kAliases) names.push_back(json::string(alias));
  }
  return json::array(std::move(names));
}

Value card_of(const ModelCard& card, const RequestLimits& limits) {
  std::vector<json::Member> temperatures;
  for (const auto& [name, value] : card.temperatures) {
    temperatures.push_back({name, json::real(value)});
  }
  std::vector<Value> notes;
  for (const std::string& note : card.notes) notes.push_back(json::string(note));
  return json::object(
      {{"family", json::string(card.family)},
       {"backbone", json::string(card.backbone)},
       {"readout", json::string(card.readout)},
       {"options_trained", json::integer(card.options_trained)},
       {"options_max", json::integer(card.options_max)},
       {"levels_max", json::integer(limits.level_count_max)},
       {"questions_max", json::integer(limits.question_count_max)},
       {"positions_max", json::integer(card.positions_max)},
       {"body_bytes_max", json::integer(static_cast<long long>(limits.json.bytes_max))},
       {"shows_all_questions", json::boolean(card.shows_all_questions)},
       {"precision", json::string(card.precision)},
       {"fingerprint", json::string(card.fingerprint)},
       {"bytes", json::integer(card.bytes)},
       {"calibrated", json::boolean(!card.temperatures.empty())},
       {"temperatures", json::object(std::move(temperatures))},
       {"notes", json::array(std::move(notes))}});
}

// OpenAI's and llama-server's entry.
Value data_entry(const ModelCard& card, bool first, const RequestLimits& limits) {
  const Value architecture =
      json::object({{"input_modalities", json::array({json::string("text")})},
                    {"output_modalities", json::array({json::string("decisions")})}});
  return json::object({{"id", json::string(card.id)},
                       {"object", json::string("model")},
                       {"created", json::integer(card.created)},
                       {"owned_by", json::string("adjudge")},
                       {"aliases", aliases(card, first)},
                       {"architecture", architecture},
                       {"meta", card_of(card, limits)}});
}

// TypeSafe's entry.
Value model_entry(std::string_view name, const std::string& description, std::int64_t created) {
  return json::object({{"name", json::string(name)},
                       {"description", json::string(description)},
                       {"release_date", json::string(date_of(created))}});
}

}  // namespace

int find_card(std::span<const ModelCard> cards, std::string_view name) {
  if (name.ends_with(kLatest)) name.remove_suffix(kLatest.size());
  if (name.empty() || std::ranges::count(kAliases, name) > 0) return 0;
  auto found = std::ranges::find(cards, name, &ModelCard::id);
  if (found == cards.end()) {
    found = std::ranges::find_if(cards, [&](const ModelCard& card) {
      return std::ranges::count(card.other_names, name) > 0;
    });
  }
  return found == cards.end() ? -1 : static_cast<int>(found - cards.begin());
}

bool is_hosted_name(std::string_view name) {
  name.remove_prefix(name.rfind('/') + 1);  // of a vendor, where there is one
  return name.starts_with("jev-") || name.starts_with("gpt-") || name == "default";
}

std::string print_models_page(std::span<const ModelCard> cards, const RequestLimits& limits) {
  std::vector<Value> data, models;
  for (const ModelCard& card : cards) {
    data.push_back(data_entry(card, data.empty(), limits));
    models.push_back(model_entry(card.id, card.description, card.created));
  }
  const ModelCard& first = cards.front();
  for (const std::string_view alias : kAliases) {
    models.push_back(model_entry(alias, "another name of " + first.id, first.created));
  }
  return json::print(json::object({{"object", json::string("list")},
                                   {"data", json::array(std::move(data))},
                                   {"models", json::array(std::move(models))}}),
                     json::Flavour::compact);
}

}  // namespace adjudge::serve
