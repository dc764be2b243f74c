#include "base/try.h"
#include "family/compile/decision_family.h"
#include "family/family.h"

namespace adjudge {

#define ADJ_FAMILY(name) const Family& name##_family();
#include "family_list.inc"
#undef ADJ_FAMILY

namespace {

std::string family_names() {
  std::string names;
  for (const Family* family : families()) {
    names += (names.empty() ? "" : ", ") + std::string(family->name());
  }
  return names;
}

}  // namespace

std::span<const Family* const> families() {
  static const std::vector<const Family*> list = {
#define ADJ_FAMILY(name) &name##_family(),
#include "family_list.inc"
#undef ADJ_FAMILY
  };
  return list;
}

const Family* find_family(std::string_view name) {
  for (const Family* family : families()) {
    if (family->name() == name) return family;
  }
  return nullptr;
}

Result<const Family*> claiming_family(const gguf::Metadata& metadata) {
  for (const Family* family : families()) {
    if (family->claims(metadata)) return family;
  }
  ADJ_TRY(const auto type, decision_type(metadata));
  const std::string found =
      type ? "<arch>.decision.type is \"" + std::string(*type) + "\""
           : std::string(
                 "<arch>.decision.type is missing and tokenizer.chat_template is missing "
                 "or of an unknown format");
  return Error{ErrorKind::bad_model, found + "; name a family in the sidecar: " + family_names()};
}

}  // namespace adjudge
