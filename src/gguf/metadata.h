// The key-value part of a GGUF file. Strings borrow from the mapped file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "adjudge/result.h"

namespace adjudge::gguf {

// Integers of every width, floats of both, booleans, strings, and arrays of each.
using MetaValue = std::variant<std::int64_t, std::uint64_t, double, bool, std::string_view,
                               std::vector<std::int64_t>, std::vector<double>, std::vector<bool>,
                               std::vector<std::string_view>>;

class Metadata {
 public:
  void add(std::string_view key, MetaValue value);
  const MetaValue* find(std::string_view key) const;
  bool has(std::string_view key) const { return find(key) != nullptr; }
  // In file order.
  const std::vector<std::pair<std::string, MetaValue>>& entries() const { return entries_; }

  // Optional keys: absent is nullopt, a wrong type is an error that names key, found and expected.
  // Any number type is accepted for a number.
  Result<std::optional<std::int64_t>> find_integer(std::string_view key) const;
  Result<std::optional<double>> find_real(std::string_view key) const;
  Result<std::optional<bool>> find_boolean(std::string_view key) const;
  Result<std::optional<std::string_view>> find_string(std::string_view key) const;

  // Required keys. The integer must lie in [least, most].
  Result<int> integer(std::string_view key, std::int64_t least, std::int64_t most) const;
  Result<double> real(std::string_view key) const;
  Result<std::string_view> string(std::string_view key) const;
  Result<std::vector<std::string_view>> strings(std::string_view key) const;
  // Arrays of integers; a scalar counts as an array of one.
  Result<std::vector<std::int64_t>> integers(std::string_view key) const;
  Result<std::vector<bool>> booleans(std::string_view key) const;

 private:
  std::vector<std::pair<std::string, MetaValue>> entries_;
  std::unordered_map<std::string, std::size_t> index_;
};

}  // namespace adjudge::gguf
