// TypeSafe's System One: bytes to a Request, a Response to bytes. Knows no HTTP; a line of a JSON
// lines file is a body like any other.
#pragma once

#include <string>
#include <string_view>

#include "adjudge/result.h"
#include "protocol/answer.h"
#include "protocol/dialect.h"
#include "protocol/limits.h"
#include "protocol/request.h"

namespace adjudge {

// All faults in one error, in the order of the body. Where sources disagree about what is legal:
//  - the state is any JSON value but null; instructions and descriptions are any JSON value;
//  - instructions may be absent, but a noul needs them or a description;
//  - one option and one level are answered; a null level is refused;
//  - unknown members are ignored, but media are refused rather than left unseen.
Result<Request> parse_systemone(std::string_view body, const RequestLimits& limits);

// One set of questions, asked of many states: a row may be anything but null, which is the row's
// own fault.
struct SystemOneBatch {
  Request questions;  // without a state
  std::vector<json::Value> states;
};

// {"states": [...], "questions": {...}}; otherwise as above.
Result<SystemOneBatch> parse_systemone_batch(std::string_view body, const RequestLimits& limits);

// One line. Where the model read less than was sent, x_truncated says by question what was cut.
// What the request's extras ask for stands in members that begin with x_.
// Numbers are the shortest that read back; a legend holds the levels as received.
std::string print_systemone(const Response& response, const Request& request);
std::string print_answered(std::span<const Answered> answered);  // one

// A body that parses to this request.
std::string print_request(const Request& request);

// The hosted contract.
extern const Dialect kSystemOne;
// llama-server's: the same bodies with its statuses, its errors (`error` alone, 400 and 501 where
// the hosted contract has 422) and its usage, which counts a shared prefix once per prompt.
extern const Dialect kLlamaSystemOne;

}  // namespace adjudge
