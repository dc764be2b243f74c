// From requests to answers: the one place that knows the order of the stages. Start reading in
// decide.cc.
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "adjudge/result.h"
#include "decide/model.h"
#include "protocol/answer.h"
#include "protocol/request.h"

namespace adjudge {

// Tokens of all prompts of one request: minutes of work on any processor, and still little memory.
inline constexpr std::int64_t kRequestTokensMax = 4'194'304;

struct DecideOptions {
  CompileOptions compile;
  std::stop_token stop;  // gives the pass up between layers
};

// Answers all requests in one tree pass. Each succeeds or fails by itself; an answer's bits do not
// depend on the company it was asked in.
std::vector<Result<Response>> decide(const Model& model, std::span<const Request> requests,
                                     const DecideOptions& options);

// A request and what it was compiled to; both outlive the call.
struct CompiledRequest {
  const Request* request;
  const Compiled* compiled;
};

// The same for those who compiled before; `Timing::compile` is then zero.
std::vector<Result<Response>> decide(const Model& model, std::span<const CompiledRequest> requests,
                                     std::stop_token stop);

// What can be refused without a network: the request's compilation and its length.
Result<Compiled> compile_within_limits(const ModelFile& file, const Request& request,
                                       const CompileOptions& options);

struct CountedRequest {
  Compiled compiled;
  int token_count;  // that it takes by itself, each shared token once
};

// For who would have others wait: refuses memories too that the model can never have room for.
Result<CountedRequest> compile_and_count(const Model& model, const Request& request,
                                         const CompileOptions& options);

}  // namespace adjudge
