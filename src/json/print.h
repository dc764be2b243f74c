// Values back to text, byte for byte as Python's json module prints them. What is not UTF-8 (a
// file's name, a string of a model file) is printed as U+FFFD: the text is always valid JSON.
#pragma once

#include <string>

#include "json/value.h"

namespace adjudge::json {

// The Python call each flavour equals (x is the value):
enum class Flavour {
  py,         // json.dumps(x, ensure_ascii=False)
  py_sorted,  // json.dumps(x, sort_keys=True, ensure_ascii=False)
  compact,    // json.dumps(x, ensure_ascii=False, separators=(",", ":"))
  canon,      // compact with sort_keys=True
  indent2,    // json.dumps(x, ensure_ascii=False, indent=2)
};

std::string print(const Value& value, Flavour flavour);

// A JSON string literal, quotes included.
std::string quote(std::string_view text);

// The text with every byte that is no part of a UTF-8 character replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

// Python's repr of a float: shortest digits that read back, "1.0", "1e+16", "1e-07".
std::string python_repr(double value);

// Members sorted by key at every depth (bytes order equals code point order in UTF-8).
Value sorted(const Value& value);

}  // namespace adjudge::json
