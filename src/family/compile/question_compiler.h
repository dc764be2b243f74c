// What the families have in common: every question is put in one or more phrasings, each a prompt
// of its own. A family says how it phrases; the limits, the tokens and the plan are made here.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "family/family.h"
#include "family/render/label_code.h"
#include "family/render/prompt_text.h"
#include "nn/weight_source.h"

namespace adjudge {

// One question of a request, about to be put.
struct Asked {
  const Request& request;
  int index;  // of the question
  const CompileOptions& options;

  const Question& question() const { return request.questions[at(index)]; }
  UserText user_text() const { return options.faithful ? UserText::parsed : UserText::literal; }
};

// One way of putting a question, and the option each logit of its readout speaks of.
struct Phrasing {
  PromptText text;
  int order = 0;  // 0: options as given, 1: reversed
  std::vector<int> option_of;
  std::shared_ptr<const Readout> readout;
};

// What of a prompt is evaluated and read, and what a limit of the training left out.
struct Layout {
  Prompt prompt;
  std::vector<int> marks;
  Truncation truncation;
};

// What every family needs of an opened file.
struct CompilerParts {
  FamilyTraits traits;
  Calibration calibration;
  const text::Tokenizer* tokenizer;
};
Result<CompilerParts> open_parts(const OpenedFile& opened, std::string_view family,
                                 BucketScheme buckets);

class QuestionCompiler : public PromptCompiler {
 public:
  const FamilyTraits& traits() const final { return parts_.traits; }
  const Calibration& calibration() const final { return parts_.calibration; }
  Result<Compiled> compile(const Request& request, const CompileOptions& options) const final;

 protected:
  explicit QuestionCompiler(CompilerParts parts) : parts_(std::move(parts)) {}
  const text::Tokenizer& tokenizer() const { return *parts_.tokenizer; }

 private:
  virtual std::vector<Phrasing> phrase(const Asked& asked) const = 0;
  virtual Fold fold_of(QuestionKind) const { return Fold::mean; }
  // By default a prompt is evaluated as it stands and read at its last token.
  virtual Result<Layout> lay_out(const Asked& asked, const Tokens& tokens) const;
  // What the tokenizer puts in front of every prompt.
  virtual std::optional<Token> first_token() const { return std::nullopt; }

  Tokens encode(const PromptText& text) const;
  Status add_prompt(const Asked& asked, Phrasing phrasing, Compiled& compiled) const;

  CompilerParts parts_;
};

// What families need that read label tokens at the end of the prompt.
struct LabelParts : CompilerParts {
  Matrix head;  // (vocabulary, hidden)
  std::vector<Label> labels;
};
// The option limits become those of the labels.
Result<LabelParts> with_labels(CompilerParts parts, const OpenedFile& opened,
                               std::vector<Label> labels);

struct BareLabelOptions {
  std::string_view family;
  BucketScheme buckets;
  std::vector<std::string> codes;
  int required_count;  // of the codes, from the first: must be tokens
};
Result<LabelParts> open_label_parts(const OpenedFile& opened, const BareLabelOptions& options);

class LabelCompiler : public QuestionCompiler {
 public:
  explicit LabelCompiler(LabelParts parts)
      : QuestionCompiler(parts), head_(parts.head), labels_(std::move(parts.labels)) {}

 protected:
  const std::string& code(int index) const { return labels_[at(index)].code; }
  // Reads the first `label_count` labels.
  std::shared_ptr<const Readout> read_labels(int label_count) const;
  const Matrix& head() const { return head_; }

 private:
  Matrix head_;
  std::vector<Label> labels_;
};

// 0, 1 ... count - 1.
std::vector<int> options_in_order(int count);

}  // namespace adjudge
