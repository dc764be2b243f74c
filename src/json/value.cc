#include "json/value.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace adjudge::json {

const Value* Value::find(std::string_view key) const {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [&](const Member& member) { return member.key == key; });
  return found == members.end() ? nullptr : &found->value;
}

Value* Value::find(std::string_view key) {
  return const_cast<Value*>(std::as_const(*this).find(key));
}

std::optional<double> number_of(const Value& value) {
  if (value.type == Type::real) return value.real;
  if (value.type != Type::integer) return std::nullopt;
  return std::strtod(value.text.c_str(), nullptr);
}

Value null() { return {}; }

Value boolean(bool value) { return {.type = Type::boolean, .boolean = value}; }

Value integer(long long value) { return {.type = Type::integer, .text = std::to_string(value)}; }

Value real(double value) { return {.type = Type::real, .real = value}; }

Value string(std::string_view text) { return {.type = Type::string, .text = std::string(text)}; }

Value array(std::vector<Value> items) { return {.type = Type::array, .items = std::move(items)}; }

Value object(std::vector<Member> members) {
  return {.type = Type::object, .members = std::move(members)};
}

}  // namespace adjudge::json
