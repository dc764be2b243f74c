// Families that a file names in its metadata, under <arch>.decision.type.
#pragma once

#include <optional>

#include "family/family.h"

namespace adjudge {

// The value of <arch>.decision.type, where <arch> is general.architecture.
Result<std::optional<std::string_view>> decision_type(const gguf::Metadata& metadata);

class DecisionFamily : public Family {
 public:
  bool claims(const gguf::Metadata& metadata) const final;
};

}  // namespace adjudge
