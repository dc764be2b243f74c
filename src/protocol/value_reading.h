// A small question that every reader of a body asks of its values.
#pragma once

#include "json/value.h"

namespace adjudge {

inline bool absent(const json::Value* value) { return value == nullptr || value->is_null(); }

}  // namespace adjudge
