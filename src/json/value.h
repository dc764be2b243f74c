// JSON exactly as it was written: member order, integers of any size, the difference between 1
// and 1.0. Prompts are printed from these values, so nothing may be rounded or reordered on the
// way. Repeated keys: the last value wins, at the place of the first.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adjudge/result.h"

namespace adjudge::json {

enum class Type { null, boolean, integer, real, string, array, object };

struct Member;

struct Value {
  Type type = Type::null;
  bool boolean = false;
  double real = 0.0;  // of a real; an integer keeps only its digits
  std::string text;   // a string's UTF-8; an integer's digits ("-0" is "0", as Python reads it)
  std::vector<Value> items;     // of an array
  std::vector<Member> members;  // of an object

  bool is_null() const { return type == Type::null; }
  bool is_string() const { return type == Type::string; }
  bool is_object() const { return type == Type::object; }
  bool is_array() const { return type == Type::array; }

  // The member of that name, or null.
  const Value* find(std::string_view key) const;
  Value* find(std::string_view key);
};

// Of a real or an integer, however many digits it has; nothing for what is no number.
std::optional<double> number_of(const Value& value);

struct Member {
  std::string key;
  Value value;
};

Value null();
Value boolean(bool value);
Value integer(long long value);
Value real(double value);
Value string(std::string_view text);
Value array(std::vector<Value> items);
Value object(std::vector<Member> members);

struct ParseLimits {
  int depth_max = 64;  // containers inside each other
  std::size_t bytes_max = std::size_t{32} << 20;
  // A value takes fifty times the memory of its shortest text, and at least one token of a prompt.
  std::size_t value_count_max = std::size_t{1} << 20;
};

// Strict JSON in UTF-8. Faults have the type "json_invalid" and say at which byte; too deep is
// "too_deep", too many bytes or values "too_long" (ErrorKind::too_large). Lone surrogates and
// numbers beyond a double are refused, whether or not they are integers.
Result<Value> parse(std::string_view text, const ParseLimits& limits = {});

}  // namespace adjudge::json
