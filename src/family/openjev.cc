// OpenJev: lettered options in brackets, the letter read at the end. No system message.
// Reference: the systemone template of its GGUF; docs/families.md says where others differ.
#include "base/try.h"
#include "family/compile/decision_family.h"
#include "family/compile/question_compiler.h"
#include "family/render/value_text.h"

namespace adjudge {
namespace {

constexpr auto kFlavour = json::Flavour::py;
constexpr int kLettersTrained = 52;  // A to Z, a to z

std::vector<std::string> codes() {
  std::vector<std::string> codes = capital_codes();
  auto next = codes.begin() + kLettersTrained / 2;
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    next = codes.insert(next, std::string(1, letter)) + 1;
  }
  return codes;
}

// A noul is asked yes first, though the request has false before true.
std::vector<int> order_of(const Question& question) {
  if (question.kind == QuestionKind::noul) return {1, 0};
  return options_in_order(count_of(question.options));
}

void write_option(const Question& question, int index, PromptText& text) {
  const Option& option = question.options[at(index)];
  const bool noul = question.kind == QuestionKind::noul;
  const bool yes = index == 1;
  if (noul) {
    text.form(yes ? "yes" : "no");
  } else {
    text.user(option.key);
  }
  text.form(": ");
  if (!is_falsy(option.description)) {
    text.user(str_or(option.description, kFlavour));
  } else if (noul) {
    text.form(yes ? "The statement is true." : "The statement is false.");
  }
}

class OpenjevCompiler final : public LabelCompiler {
 public:
  using LabelCompiler::LabelCompiler;

 private:
  std::vector<Phrasing> phrase(const Asked& asked) const override {
    const Question& question = asked.question();
    PromptText text(asked.user_text());
    text.form("<|im_start|>user\nState:\n").user(str_or(asked.request.state, kFlavour));
    text.border().form("\n\nQuestion: ").user(instructions_text(question, kFlavour));
    if (question.kind == QuestionKind::score) {
      text.form(" Rate along the ordered levels below (lowest first).");
    }
    text.form("\nOptions:\n");
    const std::vector<int> order = order_of(question);
    for (int i = 0; i < count_of(order); ++i) {
      text.form("[" + code(i) + "] ");
      write_option(question, order[at(i)], text);
      text.form("\n");
    }
    text.form(
        "\nAnswer with the letter of the best option only.<|im_end|>\n"
        "<|im_start|>assistant\n<think>\n\n</think>\n\n");
    return {{std::move(text), 0, order, read_labels(count_of(order))}};
  }
};

class OpenjevFamily final : public DecisionFamily {
 public:
  std::string_view name() const override { return "openjev"; }

  Result<std::unique_ptr<PromptCompiler>> open(const OpenedFile& opened) const override {
    ADJ_TRY(LabelParts parts,
            open_label_parts(opened, {name(), BucketScheme::counts, codes(), kLettersTrained}));
    parts.traits.options_trained = kLettersTrained;
    return std::unique_ptr<PromptCompiler>(std::make_unique<OpenjevCompiler>(std::move(parts)));
  }
};

}  // namespace

const Family& openjev_family() {
  static const OpenjevFamily family;
  return family;
}

}  // namespace adjudge
