// lev: evidence and one criterion. A choice is asked in both orders, a noul as a rating from 0 to 8
// that is read at the first nine letters, although the prompt asks for a digit.
// Reference: lev's prompt.py and the systemone template of its GGUF (which writes JSON descriptions
// unescaped, as here).
#include <algorithm>

#include "base/try.h"
#include "family/compile/decision_family.h"
#include "family/compile/question_compiler.h"
#include "family/render/value_text.h"

namespace adjudge {
namespace {

constexpr auto kFlavour = json::Flavour::py_sorted;
constexpr int kRatingCount = 9;  // 0 to 8

constexpr const char* kHead =
    "<|im_start|>system\n"
    "You are a System One decision model. You read the Evidence and answer each Criterion by "
    "choosing exactly one of the listed options. You never explain. You answer with the single "
    "option label only.<|im_end|>\n"
    "<|im_start|>user\n# Evidence\n";
constexpr const char* kTail = "\n<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n";

// The reference asks with the question's id where there are no instructions.
void write_instructions(const Asked& asked, PromptText& text) {
  const Question& question = asked.question();
  if (!is_falsy(question.instructions)) {
    text.user(str_or(question.instructions, kFlavour));
  } else if (asked.options.faithful) {
    text.user(question.id);
  } else {
    text.form(neutral_instructions(question.kind));
  }
}

void write_scale(const Question& question, PromptText& text) {
  text.form("# Scale\n0 = certainly no ... 8 = certainly yes\n");
  for (const bool yes : {true, false}) {
    const json::Value& description = question.options[yes ? 1 : 0].description;
    if (is_falsy(description)) continue;
    text.form(yes ? "yes: " : "no: ").user(str_or(description, kFlavour)).form("\n");
  }
  text.form("\nRespond with only a digit from 0 to 8.");
}

void write_option(const Question& question, int index, PromptText& text) {
  const Option& option = question.options[at(index)];
  if (question.kind == QuestionKind::score) {
    text.form("(level " + option.key + " of " + std::to_string(count_of(question.options) - 1) +
              ") ");
    text.user(str_or(option.description, kFlavour));
    return;
  }
  text.user(option.key);
  if (!is_falsy(option.description)) {
    text.form(": ").user(str_or(option.description, kFlavour));
  }
}

class LevCompiler final : public LabelCompiler {
 public:
  using LabelCompiler::LabelCompiler;

 private:
  Fold fold_of(QuestionKind kind) const override {
    return kind == QuestionKind::noul ? Fold::rating_scale : Fold::mean;
  }

  std::vector<Phrasing> phrase(const Asked& asked) const override {
    const Question& question = asked.question();
    if (question.kind == QuestionKind::noul) return {phrase_noul(asked)};
    std::vector<int> order = options_in_order(count_of(question.options));
    std::vector<Phrasing> phrasings;
    const auto readout = read_labels(count_of(order));
    phrasings.push_back({write_options(asked, order), 0, order, readout});
    if (question.kind == QuestionKind::choice && order.size() > 1) {
      std::reverse(order.begin(), order.end());
      phrasings.push_back({write_options(asked, order), 1, order, readout});
    }
    return phrasings;
  }

  static PromptText begin(const Asked& asked) {
    PromptText text(asked.user_text());
    text.form(kHead).border().user(str_or(asked.request.state, kFlavour)).border();
    text.form("\n\n# Criterion\n");
    write_instructions(asked, text);
    text.form("\n\n");
    return text;
  }

  Phrasing phrase_noul(const Asked& asked) const {
    PromptText text = begin(asked);
    write_scale(asked.question(), text);
    text.form(kTail);
    return {std::move(text), 0, options_in_order(kRatingCount), read_labels(kRatingCount)};
  }

  // Labels stay positional, whatever the order.
  PromptText write_options(const Asked& asked, const std::vector<int>& order) const {
    PromptText text = begin(asked);
    text.form("# Options\n");
    for (int i = 0; i < count_of(order); ++i) {
      text.form(code(i) + ". ");
      write_option(asked.question(), order[at(i)], text);
      text.form("\n");
    }
    text.form("\nRespond with only the letter of ");
    text.form(asked.question().kind == QuestionKind::score ? "the level that best matches."
                                                           : "the best option.");
    return text.form(kTail);
  }
};

class LevFamily final : public DecisionFamily {
 public:
  std::string_view name() const override { return "lev"; }

  Result<std::unique_ptr<PromptCompiler>> open(const OpenedFile& opened) const override {
    ADJ_TRY(LabelParts parts, open_label_parts(opened, {name(), BucketScheme::sizes,
                                                        capital_codes(), kLabelCountMin}));
    return std::unique_ptr<PromptCompiler>(std::make_unique<LevCompiler>(std::move(parts)));
  }
};

}  // namespace

const Family& lev_family() {
  static const LevFamily family;
  return family;
}

}  // namespace adjudge
