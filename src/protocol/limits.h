// What a request may hold, whatever the model. Published with the models, quoted in every refusal.
#pragma once

#include "json/value.h"

namespace adjudge {

struct RequestLimits {
  // Most families give a question a prompt of its own: thousands are minutes of work. Tokens are
  // limited apart from that (decide/decide.h).
  int question_count_max = 4096;
  int option_count_max = 255;  // of a choice; a family may offer fewer
  int level_count_max = 10;    // as System One has it
  // Each order of the options is a prompt of its own.
  int order_count_max = 64;
  // A body asked in several ways is copied for each.
  std::size_t copied_bytes_max = std::size_t{256} << 20;
  // Ids come back in answers and in every fault.
  int id_bytes_max = 1024;
  // Faults quoted in one error; a body of megabytes can hold thousands.
  int fault_count_max = 100;
  json::ParseLimits json;  // bytes, nesting and values of the body
};

}  // namespace adjudge
