// Codes that stand for options in a prompt and are read back as one token each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "adjudge/result.h"
#include "base/token.h"
#include "protocol/limits.h"
#include "text/tokenizer.h"

namespace adjudge {

// No family was trained with more labels, and no request has more options.
inline constexpr int kLabelCountMax = RequestLimits{}.option_count_max;
// A score has up to ten levels, and every family asks them by label.
inline constexpr int kLabelCountMin = 10;

struct Label {
  std::string code;
  Tokens tokens;  // each way of writing it, as one token
};

// "A" to "Z", then "AA", "AB" to "ZZ".
std::vector<std::string> capital_codes();

// The first kLabelCountMax of `codes` that are one token, encoded bare. The first `required_count`
// of them must all be; the others are passed over when they are not.
Result<std::vector<Label>> bare_labels(const text::Tokenizer& tokenizer,
                                       const std::vector<std::string>& codes, int required_count);

}  // namespace adjudge
