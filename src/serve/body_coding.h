// Compressed bodies to plain ones, never larger than allowed: a small body can unpack to a huge
// one.
#pragma once

#include <string>
#include <string_view>

#include "adjudge/result.h"

namespace adjudge::serve {

// What decode_body() reads, for an Accept-Encoding header.
inline constexpr const char* kBodyCodings = "zstd, gzip, identity";

// bad_request: the bytes are not of that coding; too_large: over `bytes_max`; not_supported:
// another coding.
Result<std::string> decode_body(std::string_view coding, std::string body, std::size_t bytes_max);

}  // namespace adjudge::serve
