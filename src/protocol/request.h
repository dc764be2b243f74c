// A request as every dialect delivers it: checked, typed, values as they were written. Knows no
// family and no token.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "json/value.h"

namespace adjudge {

enum class QuestionKind { choice, score, noul };
const char* kind_name(QuestionKind kind);

// choice: the caller's key and description, in the caller's order.
// score: keys "0", "1", ... and the level as description.
// noul: always two, keys "false" then "true"; null descriptions where the caller gave none.
struct Option {
  std::string key;
  json::Value description;
};

struct Question {
  std::string id;
  QuestionKind kind = QuestionKind::choice;
  json::Value instructions;  // null when absent
  std::vector<Option> options;
};

enum class Wish { no, if_possible, required };

// What the caller wants to see beside the answers.
struct Extras {
  bool logits = false;
  bool temperature = false;
  bool usage = false;
  bool timing = false;
  Wish label_mass = Wish::no;            // costs a product with the whole vocabulary
  std::optional<double> confidence_min;  // answers below it are marked, never hidden
  int order_count_max = 8;               // where options are asked in several orders
};

struct Request {
  std::string model;  // as asked for; empty when absent
  json::Value state;
  std::vector<Question> questions;  // ids are unique
  Extras extras;
};

}  // namespace adjudge
