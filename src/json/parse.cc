// Text to values, by the event reader of nlohmann::json: it gives every event in the order of the
// text and the raw digits of what does not fit 64 bits. The only unit that includes the library.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "base/size.h"
#include "json/value.h"

namespace adjudge::json {
namespace {

Error invalid(std::size_t byte, std::string_view reason) {
  return {ErrorKind::bad_request,
          std::vector<Fault>{
              {{},
               "json_invalid",
               "invalid JSON at byte " + std::to_string(byte) + ": " + std::string(reason)}}};
}

Error over_limit(std::string type, std::string_view what, std::size_t limit) {
  const ErrorKind kind = type == "too_deep" ? ErrorKind::bad_request : ErrorKind::too_large;
  return {kind,
          std::vector<Fault>{
              {{}, std::move(type), std::string(what) + ", at most " + std::to_string(limit)}}};
}

// Whether containers nest deeper than allowed. Exact for every valid beginning of a text, which is
// all the reader ever sees: it stops at the first fault.
bool nests_deeper(std::string_view text, int depth_max) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > depth_max) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

// The last value of a repeated key moves to the place of the first. Sorting, because a hash table
// can be made quadratic by whoever chooses the keys.
void merge_repeated_keys(std::vector<Member>& members) {
  std::vector<std::size_t> order(members.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const int difference = members[a].key.compare(members[b].key);
    return difference == 0 ? a < b : difference < 0;
  });
  std::vector<bool> repeated(members.size());
  std::size_t first = 0;  // in `order`, of the current run of equal keys
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (members[order[i]].key != members[order[first]].key) {
      first = i;
    } else {
      members[order[first]].value = std::move(members[order[i]].value);
      repeated[order[i]] = true;
    }
  }
  std::size_t kept_count = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (repeated[i]) continue;
    if (kept_count != i) members[kept_count] = std::move(members[i]);
    ++kept_count;
  }
  members.resize(kept_count);
}

std::string reason_of(const nlohmann::json::exception& exception) {
  constexpr int kNumberOverflow = 406;
  if (exception.id == kNumberOverflow) return "a number is beyond what a double holds";
  // "[json...] parse error at line 1, column 2: syntax error while ...; last read: '...'". What was
  // read may be megabytes, and the byte is in our own words already.
  const std::string_view text = exception.what();
  constexpr std::string_view kBefore = "syntax error ";
  const std::size_t before = text.find(kBefore);
  if (before == std::string_view::npos) return "syntax error";
  const std::string_view rest = text.substr(before + kBefore.size());
  return std::string(rest.substr(0, rest.find("; last read: ")));
}

// Receives the reader's events; the member names are the library's.
class Builder {
 public:
  explicit Builder(std::size_t value_count_max) : value_count_max_(value_count_max) {}

  bool null() { return place(json::null()); }
  bool boolean(bool value) { return place(json::boolean(value)); }
  bool number_integer(std::int64_t value) { return place(json::integer(value)); }
  bool number_unsigned(std::uint64_t value) {
    return place({.type = Type::integer, .text = std::to_string(value)});
  }
  bool number_float(double value, const std::string& digits) {
    if (digits.find_first_of(".eE") == std::string::npos) {  // an integer beyond 64 bits
      return place({.type = Type::integer, .text = digits});
    }
    return place(json::real(value));
  }
  bool string(std::string& text) { return place({.type = Type::string, .text = std::move(text)}); }
  bool binary(nlohmann::json::binary_t&) { return false; }  // not a part of JSON text

  bool start_object(std::size_t) { return open(Type::object); }
  bool key(std::string& text) {
    open_.back().members.push_back({std::move(text), {}});
    return true;
  }
  bool end_object() {
    merge_repeated_keys(open_.back().members);
    return close();
  }
  bool start_array(std::size_t) { return open(Type::array); }
  bool end_array() { return close(); }

  bool parse_error(std::size_t read_bytes, const std::string&,
                   const nlohmann::json::exception& exception) {
    error_ = invalid(read_bytes == 0 ? 0 : read_bytes - 1, reason_of(exception));
    return false;
  }

  Result<Value> take() && {
    if (error_) return *std::move(error_);
    return std::move(root_);
  }

 private:
  bool count() {
    if (++value_count_ <= value_count_max_) return true;
    error_ = over_limit("too_long", "too many values in the JSON text", value_count_max_);
    return false;
  }

  bool place(Value value) { return count() && attach(std::move(value)); }

  bool open(Type type) {
    open_.push_back({.type = type});
    return count();
  }

  bool close() {
    Value value = std::move(open_.back());
    open_.pop_back();
    return attach(std::move(value));
  }

  bool attach(Value value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (open_.back().is_array()) {
      open_.back().items.push_back(std::move(value));
    } else {
      open_.back().members.back().value = std::move(value);
    }
    return true;
  }

  std::size_t value_count_max_;
  std::size_t value_count_ = 0;
  std::vector<Value> open_;  // containers not closed yet, outermost first
  Value root_;
  std::optional<Error> error_;
};

}  // namespace

Result<Value> parse(std::string_view text, const ParseLimits& limits) {
  if (text.size() > limits.bytes_max) {
    return over_limit("too_long", std::to_string(text.size()) + " bytes of JSON", limits.bytes_max);
  }
  if (nests_deeper(text, limits.depth_max)) {
    return over_limit("too_deep", "too many containers inside each other", at(limits.depth_max));
  }
  // The reader takes a zero byte for the end of its input.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
    return invalid(zero, "a zero byte");
  }
  Builder builder(limits.value_count_max);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return std::move(builder).take();
}

}  // namespace adjudge::json
