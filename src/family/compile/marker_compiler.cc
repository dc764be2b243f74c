#include "family/compile/marker_compiler.h"

#include <limits>
#include <numeric>

#include "base/try.h"
#include "family/compile/decision_family.h"
#include "family/compile/marker_cut.h"
#include "family/render/value_text.h"
#include "readout/marker.h"

namespace adjudge {
namespace {

constexpr int kOptionCountMax = RequestLimits{}.option_count_max;

// A special token and its text.
struct Special {
  Token token = 0;
  std::string text;
};

// The token that `key` names, or `fallback` in files whose tokenizer has one token for both.
// Prompts are written with it, so it has to be read from its text, and from nothing a caller can
// write.
Result<Special> find_special(const OpenedFile& opened, std::string_view key,
                             std::string_view fallback) {
  const gguf::Metadata& metadata = opened.file->metadata();
  const std::string prefix = "tokenizer.ggml.";
  std::string name = prefix + std::string(key);
  if (!metadata.has(name) && !fallback.empty()) name = prefix + std::string(fallback);
  ADJ_TRY(const int token, metadata.integer(name, 0, opened.tokenizer->vocabulary_count() - 1));
  Special special{token, opened.tokenizer->text_of(token)};
  const bool is_control = opened.tokenizer->type(token) == text::TokenType::control;
  if (is_control && opened.tokenizer->encode(special.text, true) == Tokens{token}) return special;
  return Error{ErrorKind::bad_model, name + ": token " + std::to_string(token) + ", \"" +
                                         special.text + "\", is no control token"};
}

struct MarkerParts : CompilerParts {
  Special first, separator, marker;
  MarkerLimits limits;
  std::vector<std::shared_ptr<const Readout>> readouts;  // per kind of question
};

class MarkerCompiler final : public QuestionCompiler {
 public:
  MarkerCompiler(MarkerParts parts, const MarkerForm& form)
      : QuestionCompiler(parts), parts_(std::move(parts)), form_(form) {}

 private:
  // Whoever parses special tokens in the caller's text, as the reference does, has to blank the
  // marker's text there; as letters it means nothing.
  PromptText empty_text(const Asked& asked) const {
    const bool parsed = asked.user_text() == UserText::parsed;
    return PromptText(asked.user_text(), parsed ? parts_.marker.text : std::string_view{});
  }

  std::vector<Phrasing> phrase(const Asked& asked) const override {
    const Question& question = asked.question();
    const int option_count = count_of(question.options);
    PromptText text = empty_text(asked);
    text.form(parts_.first.text).form(kind_name(question.kind)).form(" question: ");
    text.user(instructions_text(question, json::Flavour::py)).form(parts_.separator.text);
    for (int i = 0; i < option_count; ++i) {
      text.form(parts_.marker.text).form(" ");
      form_.write_option(question, i, text);
    }
    text.form(parts_.separator.text).user(str_or(asked.request.state, json::Flavour::py));
    text.form(parts_.separator.text);
    return {{std::move(text), 0, options_in_order(option_count),
             parts_.readouts[static_cast<std::size_t>(question.kind)]}};
  }

  Result<Layout> lay_out(const Asked& asked, const Tokens& tokens) const override {
    std::optional<MarkerCut> cut =
        cut_marker_prompt(tokens, count_of(asked.question().options),
                          {parts_.separator.token, parts_.marker.token}, parts_.limits);
    if (!cut) {
      return Error{
          ErrorKind::bad_request,
          {Fault{{"questions", asked.question().id},
                 "value_error",
                 "the text of this question or of the state reads as a marker of its own"}}};
    }
    Layout layout;
    layout.prompt.causal = false;
    layout.prompt.wanted.resize(cut->tokens.size());  // the head's blocks attend over all rows
    std::iota(layout.prompt.wanted.begin(), layout.prompt.wanted.end(), 0);
    layout.prompt.tokens = std::move(cut->tokens);
    layout.marks = std::move(cut->markers);
    layout.truncation = std::move(cut->truncation);
    return layout;
  }

  MarkerParts parts_;
  MarkerForm form_;
};

Result<MarkerLimits> read_limits(const gguf::Metadata& metadata) {
  ADJ_TRY(const std::string_view architecture, metadata.string("general.architecture"));
  const std::string prefix = std::string(architecture) + ".";
  constexpr int kMost = std::numeric_limits<int>::max();
  MarkerLimits limits;
  ADJ_TRY(limits.head_tokens_max, metadata.integer(prefix + "decision.max_head_tokens", 1, kMost));
  ADJ_TRY(limits.prompt_tokens_max, metadata.integer(prefix + "context_length", 1, kMost));
  return limits;
}

}  // namespace

Result<std::unique_ptr<PromptCompiler>> open_marker_compiler(const OpenedFile& opened,
                                                             const MarkerForm& form) {
  ADJ_TRY(const CompilerParts common, open_parts(opened, form.family, BucketScheme::counts));
  MarkerParts parts{common, {}, {}, {}, {}, {}};
  ADJ_TRY(parts.first, find_special(opened, "cls_token_id", "bos_token_id"));
  ADJ_TRY(parts.separator, find_special(opened, "seperator_token_id", "eos_token_id"));  // sic
  ADJ_TRY(parts.marker, find_special(opened, "mask_token_id", ""));
  ADJ_TRY(parts.limits, read_limits(opened.file->metadata()));
  ADJ_TRY(const auto head,
          open_marker_head(opened.file->metadata(), *opened.weights, opened.width));
  for (const QuestionKind kind : {QuestionKind::choice, QuestionKind::score, QuestionKind::noul}) {
    parts.readouts.push_back(std::make_shared<MarkerReadout>(head, static_cast<int>(kind)));
  }
  parts.traits.readout = "marker";
  parts.traits.options_trained = kOptionCountMax;
  parts.traits.options_max = kOptionCountMax;
  const std::string limit = std::to_string(parts.limits.head_tokens_max);
  parts.traits.notes.push_back("question and options together were trained up to " + limit +
                               " tokens; what is longer is cut, and x_truncated says so");
  return std::unique_ptr<PromptCompiler>(std::make_unique<MarkerCompiler>(std::move(parts), form));
}

bool writes_bare_options(const gguf::Metadata& metadata, std::string_view type) {
  const auto found = decision_type(metadata);
  if (!found.ok() || found.value() != type) return false;
  const auto text = metadata.find_string("tokenizer.chat_template.systemone");
  // Where keys are shown, the template asks for the kind of question to write them.
  return text.ok() && text.value() && text.value()->find("type ==") == std::string_view::npos;
}

}  // namespace adjudge
