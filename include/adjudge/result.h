// Values or errors. Nothing in adjudge throws at its users: whatever depends on the caller, on a
// file or on the machine comes back as a Result.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace adjudge {

enum class ErrorKind {
  bad_request,    // the request is wrong: the faults say where
  too_large,      // the request is right but over a published limit
  bad_model,      // the model file is damaged, foreign or lacks something
  not_supported,  // well-formed, and not offered by this model or build
  overloaded,     // the queue is full; try again later
  deadline,       // the caller's time ran out before an answer
  cancelled,      // the caller gave up
  unavailable,    // not loaded yet, stopping, or the machine refused (memory, files)
  internal,       // our fault
};

// One thing that is wrong. `path` leads to the place, outermost first: {"questions", "team",
// "choice", "criteria"}. `type` is a word of the vocabulary validators know: missing, string_type,
// too_long, json_invalid ...
struct Fault {
  std::vector<std::string> path;
  std::string type;
  std::string message;
};

struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::vector<Fault> faults;  // at least one

  Error(ErrorKind error_kind, std::string message) : kind(error_kind) {
    faults.push_back({{}, {}, std::move(message)});
  }
  Error(ErrorKind error_kind, std::vector<Fault> found)
      : kind(error_kind), faults(std::move(found)) {}

  // All faults in one line: "questions.team.choice.criteria: ...; state: ...".
  std::string message() const;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : content_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return content_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return std::get<0>(content_); }
  const T& value() const& { return std::get<0>(content_); }
  T&& value() && { return std::get<0>(std::move(content_)); }

  Error& error() & { return std::get<1>(content_); }
  const Error& error() const& { return std::get<1>(content_); }
  Error&& error() && { return std::get<1>(std::move(content_)); }

 private:
  std::variant<T, Error> content_;
};

// A Result without a value.
struct Done {};
using Status = Result<Done>;

}  // namespace adjudge
