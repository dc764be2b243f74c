// Finds the backbone for a file. A backbone is a folder, src/backbone/<name>/, that defines
// <name>_backbone(); the list is generated from the folders.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "backbone/backbone.h"
#include "gguf/metadata.h"

namespace adjudge {

struct BackboneOptions {
  int rows_max = 512;  // rows of one pass
};

// What the list holds. `claims` looks at general.architecture.
struct BackboneEntry {
  const char* name;
  bool (*claims)(std::string_view architecture);
  // Reads the keys and finds every tensor; reads no weights beyond norms and biases.
  Result<std::unique_ptr<Backbone>> (*open)(const gguf::Metadata& metadata, const NetContext& net,
                                            const BackboneOptions& options);
  // Keys only, for inspect and explain: what open would report.
  Result<BackboneTraits> (*read_traits)(const gguf::Metadata& metadata);
};

std::span<const BackboneEntry> backbones();
// Null when no backbone claims it.
const BackboneEntry* find_backbone(std::string_view architecture);

}  // namespace adjudge
