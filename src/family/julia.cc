// Julia-1: asks as Laya does, which its file names as its type, but an option is its description
// alone, or its key where it has none.
// Reference: ModernBertDecisionModel in llama.cpp's conversion/bert.py.
#include "family/compile/decision_family.h"
#include "family/compile/marker_compiler.h"
#include "family/render/value_text.h"

namespace adjudge {
namespace {

// tidy: allow family-names: what its file says of itself in <arch>.decision.type
constexpr std::string_view kDecisionType = "laya";

void write_option(const Question& question, int index, PromptText& text) {
  const Option& option = question.options[at(index)];
  text.user(is_falsy(option.description) ? option.key
                                         : str_or(option.description, json::Flavour::py));
}

class JuliaFamily final : public Family {
 public:
  std::string_view name() const override { return "julia"; }

  bool claims(const gguf::Metadata& metadata) const override {
    return writes_bare_options(metadata, kDecisionType);
  }

  Result<std::unique_ptr<PromptCompiler>> open(const OpenedFile& opened) const override {
    return open_marker_compiler(opened, {name(), write_option});
  }
};

}  // namespace

const Family& julia_family() {
  static const JuliaFamily family;
  return family;
}

}  // namespace adjudge
