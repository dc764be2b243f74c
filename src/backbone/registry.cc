#include "backbone/registry.h"

namespace adjudge {

#define ADJ_BACKBONE(name) BackboneEntry name##_backbone();
#include "backbone_list.inc"
#undef ADJ_BACKBONE

std::span<const BackboneEntry> backbones() {
  static const std::vector<BackboneEntry> list = {
#define ADJ_BACKBONE(name) name##_backbone(),
#include "backbone_list.inc"
#undef ADJ_BACKBONE
  };
  return list;
}

const BackboneEntry* find_backbone(std::string_view architecture) {
  for (const BackboneEntry& entry : backbones()) {
    if (entry.claims(architecture)) return &entry;
  }
  return nullptr;
}

}  // namespace adjudge
