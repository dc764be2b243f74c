// What would happen to a request, without running it: prompts, tree, steps and readings as JSON.
#pragma once

#include "decide/decide.h"
#include "json/value.h"

namespace adjudge {

// Reads no weights.
Result<json::Value> explain(const ModelFile& file, const Request& request,
                            const CompileOptions& options);

// What a file is: family, backbone, sizes, limits, temperatures, special tokens, what is missing.
json::Value inspect(const ModelFile& file);

}  // namespace adjudge
