#include "family/compile/question_compiler.h"

#include <algorithm>
#include <numeric>

#include "base/try.h"
#include "family/compile/prompt_limits.h"
#include "family/sidecar.h"
#include "readout/label.h"

namespace adjudge {
namespace {

std::string cut_text(const char* what, const CutText& text) {
  if (!text.is_cut()) return "";
  return std::string(what) + " would be cut from " + std::to_string(text.token_count) + " to " +
         std::to_string(text.kept_count) + " tokens; ";
}

Fault truncated(const Question& question, const Truncation& truncation) {
  std::string message = "question \"" + question.id +
                        "\": " + cut_text("its text", truncation.question) +
                        cut_text("the state", truncation.state);
  if (!truncation.options_cut.empty()) {
    message += std::to_string(truncation.options_cut.size()) + " options would be cut; ";
  }
  if (!truncation.options_alike.empty()) {
    message += std::to_string(truncation.options_alike.size()) + " would no longer differ; ";
  }
  message += "this model was trained with shorter ones";
  return Fault{{"questions", question.id}, "truncated", std::move(message)};
}

Status refuse_truncated(const Request& request, const Compiled& compiled) {
  std::vector<Fault> faults;
  for (int q = 0; q < count_of(compiled.questions); ++q) {
    const Truncation& truncation = compiled.questions[at(q)].truncation;
    if (truncation.any()) faults.push_back(truncated(request.questions[at(q)], truncation));
  }
  if (!faults.empty()) return Error{ErrorKind::bad_request, std::move(faults)};
  return Done{};
}

}  // namespace

Result<CompilerParts> open_parts(const OpenedFile& opened, std::string_view family,
                                 BucketScheme buckets) {
  CompilerParts parts;
  parts.traits.name = family;
  parts.tokenizer = opened.tokenizer;
  ADJ_TRY(parts.calibration, read_calibration(opened.file->metadata(), buckets));
  if (opened.sidecar != nullptr) apply_sidecar(*opened.sidecar, parts.calibration);
  if (parts.calibration.temperatures.empty()) {
    parts.traits.notes.push_back("no temperature is stored with this model; 1 is used");
  }
  return parts;
}

Tokens QuestionCompiler::encode(const PromptText& text) const {
  Tokens tokens = text.encode(tokenizer());
  if (first_token()) tokens.insert(tokens.begin(), *first_token());
  return tokens;
}

Result<Layout> QuestionCompiler::lay_out(const Asked&, const Tokens& tokens) const {
  return Layout{{.tokens = tokens, .wanted = {count_of(tokens) - 1}}, {}, {}};
}

Status QuestionCompiler::add_prompt(const Asked& asked, Phrasing phrasing,
                                    Compiled& compiled) const {
  Tokens tokens = encode(phrasing.text);
  ADJ_TRY(Layout layout, lay_out(asked, tokens));
  const std::string first = first_token() ? tokenizer().text_of(*first_token()) : "";
  if (layout.prompt.causal) {
    const std::span<const Token> own =
        std::span(layout.prompt.tokens).subspan(first_token() ? 1 : 0);
    layout.prompt.borders = phrasing.text.borders_in(own, tokenizer());
    for (int& border : layout.prompt.borders) border += first_token() ? 1 : 0;
  }
  if (!layout.truncation.any()) tokens.clear();
  compiled.notes.push_back(
      {asked.index, phrasing.order, first + phrasing.text.text(), std::move(tokens)});
  QuestionPlan& plan = compiled.questions.back();
  plan.truncation = std::move(layout.truncation);
  plan.readings.push_back({count_of(compiled.prompts), std::move(phrasing.option_of),
                           std::move(phrasing.readout), std::move(layout.marks)});
  compiled.prompts.push_back(std::move(layout.prompt));
  return Done{};
}

Result<Compiled> QuestionCompiler::compile(const Request& request,
                                           const CompileOptions& options) const {
  ADJ_TRY_DONE(check_option_counts(request, traits().options_max));
  Compiled compiled;
  TokenCounter counter(options);
  for (int i = 0; i < count_of(request.questions); ++i) {
    const Asked asked{request, i, options};
    compiled.questions.emplace_back().fold = fold_of(asked.question().kind);
    for (Phrasing& phrasing : phrase(asked)) {
      ADJ_TRY_DONE(add_prompt(asked, std::move(phrasing), compiled));
      const int token_count = count_of(compiled.prompts.back().tokens);
      ADJ_TRY_DONE(counter.add(asked.question(), "this question", token_count));
    }
  }
  if (options.refuse_truncation) ADJ_TRY_DONE(refuse_truncated(request, compiled));
  return compiled;
}

Result<LabelParts> with_labels(CompilerParts parts, const OpenedFile& opened,
                               std::vector<Label> labels) {
  ADJ_TRY(const Matrix head,
          open_token_head(*opened.weights, opened.tokenizer->vocabulary_count(), opened.width));
  parts.traits.readout = "label";
  parts.traits.options_trained = count_of(labels);
  parts.traits.options_max = count_of(labels);
  return LabelParts{std::move(parts), head, std::move(labels)};
}

Result<LabelParts> open_label_parts(const OpenedFile& opened, const BareLabelOptions& options) {
  ADJ_TRY(CompilerParts parts, open_parts(opened, options.family, options.buckets));
  ADJ_TRY(std::vector<Label> labels,
          bare_labels(*opened.tokenizer, options.codes, options.required_count));
  return with_labels(std::move(parts), opened, std::move(labels));
}

std::shared_ptr<const Readout> LabelCompiler::read_labels(int label_count) const {
  std::vector<Tokens> groups;
  for (int i = 0; i < label_count; ++i) groups.push_back(labels_[at(i)].tokens);
  return std::make_shared<LabelReadout>(head_, groups);
}

std::vector<int> options_in_order(int count) {
  std::vector<int> options(at(count));
  std::iota(options.begin(), options.end(), 0);
  return options;
}

}  // namespace adjudge
