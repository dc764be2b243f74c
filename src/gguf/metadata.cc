#include "gguf/metadata.h"

#include <cmath>
#include <cstdio>
#include <limits>

#include "base/check.h"
#include "base/try.h"
#include "gguf/quoted.h"

namespace adjudge::gguf {

namespace {

constexpr const char* kInteger = "an integer";
constexpr const char* kReal = "a number";
constexpr const char* kBoolean = "true or false";
constexpr const char* kString = "a string";

std::string shown(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.9g", value);
  return text;
}

template <class T>
std::string shown_array(const std::vector<T>& values, const char* what) {
  return "an array of " + std::to_string(values.size()) + " " + what +
         (values.size() == 1 ? "" : "s");
}

struct Description {
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(std::uint64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return shown(value); }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::string_view value) const { return "the string " + quoted(value); }
  std::string operator()(const std::vector<std::int64_t>& values) const {
    return shown_array(values, "integer");
  }
  std::string operator()(const std::vector<double>& values) const {
    return shown_array(values, "number");
  }
  std::string operator()(const std::vector<bool>& values) const {
    return shown_array(values, "boolean");
  }
  std::string operator()(const std::vector<std::string_view>& values) const {
    return shown_array(values, "string");
  }
};

Error unexpected(std::string_view key, const std::string& found, const std::string& expected) {
  return Error{ErrorKind::bad_model,
               "key " + quoted(key) + ": found " + found + ", expected " + expected};
}

Error unexpected(std::string_view key, const MetaValue& found, const std::string& expected) {
  return unexpected(key, std::visit(Description{}, found), expected);
}

Error missing(std::string_view key, const std::string& expected) {
  return Error{ErrorKind::bad_model, "key " + quoted(key) + " is missing, expected " + expected};
}

// The value, when it is of exactly this type.
template <class T>
Result<std::optional<T>> find_exactly(const Metadata& metadata, std::string_view key,
                                      const char* expected) {
  const MetaValue* value = metadata.find(key);
  if (value == nullptr) return std::optional<T>{};
  if (const T* held = std::get_if<T>(value)) return std::optional<T>{*held};
  return unexpected(key, *value, expected);
}

template <class T>
Result<T> require(std::string_view key, Result<std::optional<T>> found, const char* expected) {
  ADJ_TRY(std::optional<T> value, std::move(found));
  if (!value.has_value()) return missing(key, expected);
  return *std::move(value);
}

// 2^63: the first double past every int64.
constexpr double kIntegerLimit = 9223372036854775808.0;

bool is_integer(double value) {
  return std::trunc(value) == value && value >= -kIntegerLimit && value < kIntegerLimit;
}

}  // namespace

void Metadata::add(std::string_view key, MetaValue value) {
  const bool added = index_.emplace(std::string(key), entries_.size()).second;
  CHECK(added);  // whoever reads a file refuses a second one first
  entries_.emplace_back(std::string(key), std::move(value));
}

const MetaValue* Metadata::find(std::string_view key) const {
  const auto place = index_.find(std::string(key));
  return place == index_.end() ? nullptr : &entries_[place->second].second;
}

Result<std::optional<std::int64_t>> Metadata::find_integer(std::string_view key) const {
  using Found = std::optional<std::int64_t>;
  const MetaValue* value = find(key);
  if (value == nullptr) return Found{};
  if (const auto* integer = std::get_if<std::int64_t>(value)) return Found{*integer};
  if (const auto* real = std::get_if<double>(value); real != nullptr && is_integer(*real)) {
    return Found{static_cast<std::int64_t>(*real)};
  }
  if (std::holds_alternative<std::uint64_t>(*value)) {
    return unexpected(key, *value, "an integer below 2^63");
  }
  return unexpected(key, *value, kInteger);
}

Result<std::optional<double>> Metadata::find_real(std::string_view key) const {
  using Found = std::optional<double>;
  const MetaValue* value = find(key);
  if (value == nullptr) return Found{};
  if (const auto* real = std::get_if<double>(value)) return Found{*real};
  if (const auto* integer = std::get_if<std::int64_t>(value)) {
    return Found{static_cast<double>(*integer)};
  }
  if (const auto* large = std::get_if<std::uint64_t>(value)) {
    return Found{static_cast<double>(*large)};
  }
  return unexpected(key, *value, kReal);
}

Result<std::optional<bool>> Metadata::find_boolean(std::string_view key) const {
  return find_exactly<bool>(*this, key, kBoolean);
}

Result<std::optional<std::string_view>> Metadata::find_string(std::string_view key) const {
  return find_exactly<std::string_view>(*this, key, kString);
}

Result<int> Metadata::integer(std::string_view key, std::int64_t least, std::int64_t most) const {
  CHECK(least >= std::numeric_limits<int>::min() && most <= std::numeric_limits<int>::max());
  ADJ_TRY(const std::int64_t value, require(key, find_integer(key), kInteger));
  if (value < least || value > most) {
    const std::string expected =
        least == most ? std::to_string(least)
                      : "an integer from " + std::to_string(least) + " to " + std::to_string(most);
    return unexpected(key, std::to_string(value), expected);
  }
  return static_cast<int>(value);
}

Result<double> Metadata::real(std::string_view key) const {
  return require(key, find_real(key), kReal);
}

Result<std::string_view> Metadata::string(std::string_view key) const {
  return require(key, find_string(key), kString);
}

Result<std::vector<std::string_view>> Metadata::strings(std::string_view key) const {
  using Strings = std::vector<std::string_view>;
  constexpr const char* kExpected = "an array of strings";
  return require(key, find_exactly<Strings>(*this, key, kExpected), kExpected);
}

Result<std::vector<std::int64_t>> Metadata::integers(std::string_view key) const {
  using Integers = std::vector<std::int64_t>;
  constexpr const char* kExpected = "an integer or an array of integers";
  const MetaValue* value = find(key);
  if (value != nullptr && std::holds_alternative<std::int64_t>(*value)) {
    return Integers{std::get<std::int64_t>(*value)};
  }
  return require(key, find_exactly<Integers>(*this, key, kExpected), kExpected);
}

Result<std::vector<bool>> Metadata::booleans(std::string_view key) const {
  using Booleans = std::vector<bool>;
  constexpr const char* kExpected = "an array of booleans";
  return require(key, find_exactly<Booleans>(*this, key, kExpected), kExpected);
}

}  // namespace adjudge::gguf
