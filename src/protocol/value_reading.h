// Small questions that every reader of a body asks of its values.
#pragma once

#include <cstdlib>
#include <optional>

#include "json/value.h"

namespace adjudge {

inline bool absent(const json::Value* value) { return value == nullptr || value->is_null(); }

// Nothing for what is no number.
inline std::optional<double> number_in(const json::Value& value) {
  if (value.type == json::Type::real) return value.real;
  if (value.type != json::Type::integer) return std::nullopt;
  return std::strtod(value.text.c_str(), nullptr);
}

}  // namespace adjudge
