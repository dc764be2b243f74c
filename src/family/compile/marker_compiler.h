// What families with a typed marker head have in common: one encoder prompt per question,
//   [CLS]{kind} question: {instructions}[SEP]([MASK] {option})*[SEP]{state}[SEP]
// the lengths they were trained with, and one marked row per option.
// Reference: the systemone template that llama.cpp's conversion/bert.py writes, and the cuts of its
// server-decision.cpp.
#pragma once

#include <memory>
#include <string_view>

#include "family/compile/question_compiler.h"

namespace adjudge {

struct MarkerForm {
  std::string_view family;
  // Writes what follows a marker and its space.
  void (*write_option)(const Question& question, int index, PromptText& text);
};

Result<std::unique_ptr<PromptCompiler>> open_marker_compiler(const OpenedFile& opened,
                                                             const MarkerForm& form);

// Two families share a decision type; only their templates tell them apart. Whether a file of this
// type shows each option as its description alone, or its key where there is none.
bool writes_bare_options(const gguf::Metadata& metadata, std::string_view decision_type);

}  // namespace adjudge
