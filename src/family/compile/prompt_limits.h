// What every family refuses: questions with more options than it can ask, and prompts that are too
// long, as soon as they are met.
#pragma once

#include <cstdint>
#include <string_view>

#include "family/family.h"

namespace adjudge {

// Names every question that has too many.
Status check_option_counts(const Request& request, int count_max);

// Counts tokens as prompts are made.
class TokenCounter {
 public:
  explicit TokenCounter(const CompileOptions& options) : options_(options) {}

  // A prompt, or as much of it as is written. `shown` says what it holds beside the state ("this
  // question"); a refusal names the question that came last.
  Status check(const Question& last, std::string_view shown, int token_count) const;
  // A whole prompt.
  Status add(const Question& last, std::string_view shown, int token_count);

 private:
  const CompileOptions& options_;
  std::int64_t total_ = 0;
};

}  // namespace adjudge
