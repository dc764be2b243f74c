// The body of /v1/models: one object that the TypeSafe, OpenAI and llama-server clients all read.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "protocol/limits.h"

namespace adjudge::serve {

// What people may know of a model before they ask it.
struct ModelCard {
  std::string id;
  std::string description;
  std::int64_t created = 0;  // seconds since 1970: when the file was written
  std::string family;
  std::string readout;
  int options_trained = 0;
  int options_max = 0;
  int positions_max = 0;
  bool shows_all_questions = false;
  std::string precision;
  std::string fingerprint;
  std::map<std::string, double> temperatures;
  std::vector<std::string> notes;
};

std::string print_models_page(const ModelCard& card, const RequestLimits& limits);

}  // namespace adjudge::serve
