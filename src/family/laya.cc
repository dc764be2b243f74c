// Laya: an encoder reads question, options and state at once; each option is scored at a mask
// token before it.
// Reference: ModernBertDecisionModel in llama.cpp's conversion/bert.py, and answers recorded from
// it.
#include "family/compile/decision_family.h"
#include "family/compile/marker_compiler.h"
#include "family/render/value_text.h"

namespace adjudge {
namespace {

const char* noul_default(const Option& option) {
  return option.key == "true" ? "yes, the statement holds" : "no, the statement does not hold";
}

void write_option(const Question& question, int index, PromptText& text) {
  const Option& option = question.options[at(index)];
  const std::string description = str_or(option.description, json::Flavour::py);
  const bool missing = is_falsy(option.description);
  switch (question.kind) {
    case QuestionKind::choice:
      text.user(option.key);
      if (!missing) text.form(": ").user(description);
      return;
    case QuestionKind::score:
      text.form("level ").form(option.key).form(": ").user(description);
      return;
    case QuestionKind::noul:
      text.form(option.key).form(": ");
      missing ? text.form(noul_default(option)) : text.user(description);
      return;
  }
}

class LayaFamily final : public Family {
 public:
  std::string_view name() const override { return "laya"; }

  // A relative with the same type has options without their keys.
  bool claims(const gguf::Metadata& metadata) const override {
    const auto type = decision_type(metadata);
    if (!type.ok() || type.value() != name()) return false;
    return !writes_bare_options(metadata, name());
  }

  Result<std::unique_ptr<PromptCompiler>> open(const OpenedFile& opened) const override {
    return open_marker_compiler(opened, {name(), write_option});
  }
};

}  // namespace

const Family& laya_family() {
  static const LayaFamily family;
  return family;
}

}  // namespace adjudge
