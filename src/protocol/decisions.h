// POST /v1/decisions: OpenAI's Decisions, and SGLang's older shape on the same path, told apart by
// the body. Both become System One questions; answers go back in the words they came in.
#pragma once

#include "protocol/dialect.h"

namespace adjudge {

extern const Dialect kDecisions;

// The two of them, given the parsed body.
Result<Ask> read_openai_decisions(json::Value body, const RequestLimits& limits);
Result<Ask> read_sglang_decisions(json::Value body, const RequestLimits& limits);

}  // namespace adjudge
