// Clef: one prompt shows the state and every question with its options, and a joint head answers
// them all. Every piece of the prompt is tokenised by itself, so that the head knows which rows a
// text became; options stand sorted, as in training.
// Reference: joint_schema_model.py of the model, and the systemone template of its GGUF.
#include <algorithm>
#include <numeric>

#include "base/try.h"
#include "family/compile/decision_family.h"
#include "family/compile/prompt_limits.h"
#include "family/compile/question_compiler.h"
#include "family/render/value_text.h"
#include "json/print.h"
#include "protocol/fault_list.h"
#include "protocol/limits.h"
#include "readout/joint.h"

namespace adjudge {
namespace {

constexpr int kOptionCountMax = RequestLimits{}.option_count_max;  // clef's own limit too

constexpr std::string_view kBeginning =
    "<|im_start|>system\n"
    "Read the complete state and schema. Decide every field jointly. Each answer must be exactly "
    "one of that field's allowed options.<|im_end|>\n"
    "<|im_start|>user\nSTATE:\n";
constexpr std::string_view kEnd =
    "\n<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\nJOINT SCHEMA DECISIONS:";

// What a token is part of, as the reference numbers it.
enum Role { kForm = 0, kNoul = 1, kChoice = 2, kScore = 3, kOption = 4 };

Role role_of(QuestionKind kind) {
  switch (kind) {
    case QuestionKind::noul:
      return kNoul;
    case QuestionKind::choice:
      return kChoice;
    case QuestionKind::score:
      break;
  }
  return kScore;
}

// A prompt while it is written.
class Pieces {
 public:
  Pieces(const text::Tokenizer& tokenizer, const CompileOptions& options)
      : tokenizer_(tokenizer), parses_user_text_(options.faithful) {}

  // The family's own words, in which special tokens are tokens.
  void form(std::string_view text) { append(text, true, kForm); }

  // Whatever came with the request; says where its tokens lie.
  RowSpan user(std::string_view text, Role role) { return append(text, parses_user_text_, role); }

  const std::string& text() const { return text_; }
  const Tokens& tokens() const { return tokens_; }
  const std::vector<RoleRun>& roles() const { return roles_; }

 private:
  RowSpan append(std::string_view text, bool parses_special, Role role) {
    const Tokens tokens = tokenizer_.encode(text, parses_special);
    const int begin = count_of(tokens_);
    text_ += text;
    tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
    if (roles_.empty() || roles_.back().role != role) roles_.push_back({role, 0});
    roles_.back().token_count += count_of(tokens);
    return {begin, count_of(tokens_)};
  }

  const text::Tokenizer& tokenizer_;
  bool parses_user_text_;
  std::string text_;
  Tokens tokens_;
  std::vector<RoleRun> roles_;
};

// The order in which a question's options are shown: sorted by the bytes of their keys; true before
// false; levels as they are.
std::vector<int> shown_order(const Question& question) {
  std::vector<int> order = options_in_order(count_of(question.options));
  if (question.kind == QuestionKind::noul) std::ranges::reverse(order);
  if (question.kind == QuestionKind::choice) {
    std::ranges::sort(order, {},
                      [&](int i) { return std::string_view(question.options[at(i)].key); });
  }
  return order;
}

json::Value description_of(const Question& question, const Option& option) {
  if (question.kind != QuestionKind::noul || !option.description.is_null()) {
    return option.description;
  }
  return json::string(option.key == "true" ? "The proposition is true or the answer is yes."
                                           : "The proposition is false or the answer is no.");
}

std::string shown_option(const Question& question, const Option& option) {
  std::vector<json::Member> members;
  json::Value description = description_of(question, option);
  if (!description.is_null()) members.push_back({"description", std::move(description)});
  members.push_back({"option_id", json::string(option.key)});
  return json::print(json::object(std::move(members)), json::Flavour::canon);
}

std::string shown_instructions(const Question& question) {
  if (question.instructions.is_null()) return neutral_instructions(question.kind);
  return str_or(question.instructions, json::Flavour::canon);
}

// The head takes the mean of a text's rows: there must be some.
Status check_has_tokens(const RowSpan& rows, const Question& question, std::string_view member) {
  if (rows.begin < rows.end) return Done{};
  return Error{ErrorKind::bad_request,
               {Fault{member_path(question, std::string(member)), "too_short",
                      "question \"" + question.id + "\" has " + std::string(member) +
                          " without a single token, which this model cannot read"}}};
}

// Questions [begin, end) of a request, which one prompt shows.
struct Shown {
  const Request& request;
  int begin;
  int end;
  const CompileOptions& options;

  const Question& question(int index) const { return request.questions[at(index)]; }
  // An id is a name for the caller's use and should not move an answer, unless the reference's own
  // text is wanted.
  std::string id(int index) const {
    return options.faithful ? question(index).id : "q" + std::to_string(index - begin + 1);
  }
};

class ClefCompiler final : public PromptCompiler {
 public:
  ClefCompiler(CompilerParts parts, std::shared_ptr<const JointHead> head)
      : parts_(std::move(parts)), head_(std::move(head)) {}

  const FamilyTraits& traits() const override { return parts_.traits; }
  const Calibration& calibration() const override { return parts_.calibration; }

  Result<Compiled> compile(const Request& request, const CompileOptions& options) const override {
    ADJ_TRY_DONE(check_option_counts(request, traits().options_max));
    Pieces beginning(*parts_.tokenizer, options);
    beginning.form(kBeginning);
    beginning.user(str_or(request.state, json::Flavour::canon), kForm);
    beginning.form("\n\nSCHEMA FIELDS:\n");
    Compiled compiled;
    TokenCounter counter(options);
    const int count = count_of(request.questions);
    const int together = options.questions_alone ? 1 : count;
    for (int begin = 0; begin < count; begin += together) {
      const Shown shown{request, begin, begin + together, options};
      ADJ_TRY_DONE(add_prompt(shown, beginning, counter, compiled));
    }
    return compiled;
  }

 private:
  Status add_prompt(const Shown& shown, Pieces pieces, TokenCounter& counter,
                    Compiled& compiled) const {
    std::vector<JointField> fields;
    const auto words = [&] {
      return fields.size() == 1 ? "this question" : "the questions up to this one";
    };
    for (int i = shown.begin; i < shown.end; ++i) {
      ADJ_TRY(JointField field, write_field(shown, i, pieces));
      fields.push_back(std::move(field));
      ADJ_TRY_DONE(counter.check(shown.question(i), words(), count_of(pieces.tokens())));
    }
    pieces.form(kEnd);
    ADJ_TRY_DONE(counter.add(shown.question(shown.end - 1), words(), count_of(pieces.tokens())));
    plan_readings(shown, std::move(fields), compiled);
    compiled.notes.push_back({shown.begin, 0, pieces.text(), {}, pieces.roles()});
    Prompt& prompt = compiled.prompts.emplace_back();
    prompt.tokens = pieces.tokens();
    prompt.wanted.resize(prompt.tokens.size());
    std::iota(prompt.wanted.begin(), prompt.wanted.end(), 0);
    return Done{};
  }

  static Result<JointField> write_field(const Shown& shown, int index, Pieces& pieces) {
    const Question& question = shown.question(index);
    const Role role = role_of(question.kind);
    JointField field;
    field.type = role - kNoul;
    pieces.form("\nFIELD " + std::to_string(index - shown.begin + 1) + "\nID: " + shown.id(index) +
                "\nTYPE: " + kind_name(question.kind) + "\nINSTRUCTION: ");
    field.rows = pieces.user(shown_instructions(question), role);
    ADJ_TRY_DONE(check_has_tokens(field.rows, question, "instructions"));
    pieces.form("\nALLOWED OPTIONS:\n");
    for (const int i : shown_order(question)) {
      pieces.form("OPTION " + std::to_string(field.options.size() + 1) + ": ");
      const RowSpan rows = pieces.user(shown_option(question, question.options[at(i)]), kOption);
      ADJ_TRY_DONE(check_has_tokens(rows, question, "criteria"));
      field.options.push_back(
          {rows, {pieces.tokens().begin() + rows.begin, pieces.tokens().begin() + rows.end}});
      pieces.form("\n");
    }
    pieces.form("END FIELD\n");
    return field;
  }

  // One readout for the prompt; every question reads its own field of it.
  void plan_readings(const Shown& shown, std::vector<JointField> fields, Compiled& compiled) const {
    const auto readout = std::make_shared<JointReadout>(head_, std::move(fields));
    for (int i = shown.begin; i < shown.end; ++i) {
      Reading& reading = compiled.questions.emplace_back().readings.emplace_back();
      reading.prompt = count_of(compiled.prompts);
      reading.option_of = shown_order(shown.question(i));
      reading.readout = readout;
      reading.marks = {i - shown.begin};
    }
  }

  CompilerParts parts_;
  std::shared_ptr<const JointHead> head_;
};

class ClefFamily final : public DecisionFamily {
 public:
  std::string_view name() const override { return "clef"; }

  Result<std::unique_ptr<PromptCompiler>> open(const OpenedFile& opened) const override {
    ADJ_TRY(CompilerParts parts, open_parts(opened, name(), BucketScheme::counts));
    parts.traits.readout = "joint";
    parts.traits.options_trained = kOptionCountMax;
    parts.traits.options_max = kOptionCountMax;
    parts.traits.shows_all_questions = true;
    ADJ_TRY(auto head, open_joint_head(*opened.file, *opened.weights, opened.width,
                                       opened.tokenizer->vocabulary_count()));
    return std::unique_ptr<PromptCompiler>(
        std::make_unique<ClefCompiler>(std::move(parts), std::move(head)));
  }
};

}  // namespace

const Family& clef_family() {
  static const ClefFamily family;
  return family;
}

}  // namespace adjudge
