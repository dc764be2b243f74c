// The body of /v1/models: one object that the TypeSafe, OpenAI and llama-server clients all read.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/limits.h"

namespace adjudge::serve {

// What people may know of a model before they ask it.
struct ModelCard {
  std::string id;
  std::vector<std::string> other_names;  // that mean it too
  std::string description;
  std::int64_t created = 0;  // seconds since 1970: when the file was written
  std::string family;
  std::string backbone;
  std::string readout;
  int options_trained = 0;
  int options_max = 0;
  int positions_max = 0;
  bool shows_all_questions = false;
  std::string precision;
  std::string fingerprint;
  std::int64_t bytes = 0;  // of the file
  std::map<std::string, double> temperatures;
  std::vector<std::string> notes;
};

// The place of the card that a name means; -1 when there is none. No name, and those that clients
// ask for when nobody told them one, mean the first.
int find_card(std::span<const ModelCard> cards, std::string_view name);

// Whether a hosted service has models of such names, as "jev-1.13", "typesafe/jev-latest",
// "gpt-6-luna" or "default": clients that were written for one come with them.
bool is_hosted_name(std::string_view name);

std::string print_models_page(std::span<const ModelCard> cards, const RequestLimits& limits);

}  // namespace adjudge::serve
