// How a kind of tokenizer encodes what lies between two recognised tokens.
#pragma once

#include <string>
#include <string_view>

#include "text/tokenizer.h"

namespace adjudge::text {

class RunEncoder {
 public:
  virtual ~RunEncoder() = default;
  // Appends the tokens of a run, which is not empty and valid UTF-8.
  virtual void encode(std::string_view run, Tokens& out) const = 0;
  // The bytes for which the stored text of a token stands that is not matched as it is written.
  virtual std::string text_of(std::string_view stored) const = 0;
};

}  // namespace adjudge::text
