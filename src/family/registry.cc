#include "family/family.h"

namespace adjudge {

#define ADJ_FAMILY(name) const Family& name##_family();
#include "family_list.inc"
#undef ADJ_FAMILY

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

}  // namespace adjudge
