#include "family/compile/decision_family.h"

#include "base/try.h"

namespace adjudge {

Result<std::optional<std::string_view>> decision_type(const gguf::Metadata& metadata) {
  ADJ_TRY(const std::string_view architecture, metadata.string("general.architecture"));
  return metadata.find_string(std::string(architecture) + ".decision.type");
}

bool DecisionFamily::claims(const gguf::Metadata& metadata) const {
  const auto type = decision_type(metadata);
  return type.ok() && type.value() == name();
}

}  // namespace adjudge
