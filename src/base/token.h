// Token ids, the common currency of text, plan and backbone.
#pragma once

#include <cstdint>
#include <vector>

namespace adjudge {

using Token = std::int32_t;
using Tokens = std::vector<Token>;

}  // namespace adjudge
