// Any chat model: a question as a user turn, the answer read where the model would begin to speak.
// Letters for choice and score, yes and no for a noul, each with all the ways of writing it that
// are one token there. What the caller sends is never read as a special token.
#include <set>

#include "base/try.h"
#include "family/compile/decision_family.h"
#include "family/compile/question_compiler.h"
#include "family/render/chat_format.h"
#include "family/render/value_text.h"
#include "readout/label.h"

namespace adjudge {
namespace {

constexpr auto kFlavour = json::Flavour::py;
constexpr const char* kTemplateKey = "tokenizer.chat_template";
constexpr const char* kFormatNames =
    "ChatML, Llama 3, Gemma, Mistral v1, v3 and v7, Phi-3 and Phi-4";
constexpr int kOneLetterCount = 26;

constexpr const char* kSystem =
    "You read a text and answer a question about it. Reply with one word or letter only.";

// What ends every user turn; the answer's tokens are looked up behind the last of them.
constexpr const char* kAskLetter = "Reply with the letter of the correct option.";
constexpr const char* kAskLetters = "Reply with the letters of the correct option.";
constexpr const char* kAskYesNo = "Answer yes or no.";

Result<ChatFormat> chat_format(const gguf::Metadata& metadata) {
  ADJ_TRY(const auto source, metadata.find_string(kTemplateKey));
  if (!source) {
    return Error{ErrorKind::bad_model, std::string(kTemplateKey) +
                                           ": missing, and needed to ask this file as a chat "
                                           "model"};
  }
  ADJ_TRY(const auto split, metadata.find_string("tokenizer.ggml.pre"));
  if (auto format = recognise_chat_format(*source, split.value_or(""))) return *format;
  return Error{
      ErrorKind::bad_model,
      std::string(kTemplateKey) + ": found a format that is not known, expected " + kFormatNames};
}

// The tokens the model could begin its answer with. A word counts only where appending it to a
// prompt appends one token and changes no other, and a token stands for one label only.
class AnswerTokens {
 public:
  AnswerTokens(const text::Tokenizer& tokenizer, const ChatFormat& format) : tokenizer_(tokenizer) {
    before_.form(kAskYesNo).form(format.answer);
    tokens_before_ = before_.encode(tokenizer_);
  }

  // Those of `words` that are one token, each of which nobody has taken.
  Tokens take(std::span<const std::string> words) {
    Tokens taken;
    for (const std::string& word : words) {
      const std::optional<Token> token = token_of(word);
      if (token && taken_.insert(*token).second) taken.push_back(*token);
    }
    return taken;
  }

 private:
  std::optional<Token> token_of(const std::string& word) const {
    PromptText text = before_;
    Tokens tokens = text.user(word).encode(tokenizer_);
    if (tokens.size() != tokens_before_.size() + 1) return std::nullopt;
    const Token last = tokens.back();
    tokens.pop_back();
    return tokens == tokens_before_ ? std::optional<Token>(last) : std::nullopt;
  }

  const text::Tokenizer& tokenizer_;
  PromptText before_;
  Tokens tokens_before_;
  std::set<Token> taken_;
};

Result<std::vector<Label>> open_labels(AnswerTokens& answers) {
  std::vector<Label> labels;
  for (const std::string& code : capital_codes()) {
    if (count_of(labels) == kLabelCountMax) break;
    const std::string forms[] = {code, " " + code};
    Tokens tokens = answers.take(forms);
    if (!tokens.empty()) labels.push_back({code, std::move(tokens)});
  }
  if (count_of(labels) >= kLabelCountMin) return labels;
  return Error{ErrorKind::bad_model,
               "tokenizer.ggml.tokens: found " + std::to_string(labels.size()) +
                   " letters that are one token where the model answers, expected " +
                   std::to_string(kLabelCountMin)};
}

// The tokens of "no" and of "yes", in the order of a noul's options.
Result<std::vector<Tokens>> open_words(AnswerTokens& answers) {
  const std::string no[] = {"No", "no", " No", " no", "NO", " NO"};
  const std::string yes[] = {"Yes", "yes", " Yes", " yes", "YES", " YES"};
  std::vector<Tokens> words = {answers.take(no), answers.take(yes)};
  if (!words[0].empty() && !words[1].empty()) return words;
  return Error{ErrorKind::bad_model,
               "tokenizer.ggml.tokens: no way of writing yes and no is one token where the model "
               "answers"};
}

struct ChatParts {
  LabelParts labels;
  ChatFormat format;
  std::vector<Tokens> words;  // no, yes
};

class ChatCompiler final : public LabelCompiler {
 public:
  explicit ChatCompiler(ChatParts parts)
      : LabelCompiler(std::move(parts.labels)),
        format_(std::move(parts.format)),
        read_words_(std::make_shared<LabelReadout>(head(), parts.words)) {}

 private:
  std::optional<Token> first_token() const override { return tokenizer().bos(); }

  std::vector<Phrasing> phrase(const Asked& asked) const override {
    const Question& question = asked.question();
    PromptText text;
    text.form(format_.before_system).form(kSystem).form(format_.before_user);
    text.form("Text:\n").border().user(str_or(asked.request.state, kFlavour)).border();
    text.form("\n\nQuestion: ");
    if (is_falsy(question.instructions)) {
      text.form(neutral_instructions(question.kind));
    } else {
      text.user(str_or(question.instructions, kFlavour));
    }
    const bool noul = question.kind == QuestionKind::noul;
    const int option_count = count_of(question.options);
    if (noul) {
      write_meanings(question, text);
    } else {
      write_options(question, text);
    }
    text.form(format_.answer);
    return {{std::move(text), 0, options_in_order(option_count),
             noul ? read_words_ : read_labels(option_count)}};
  }

  static void write_meanings(const Question& question, PromptText& text) {
    for (const bool yes : {true, false}) {
      const json::Value& description = question.options[yes ? 1 : 0].description;
      if (is_falsy(description)) continue;
      text.form(yes ? "\nYes means: " : "\nNo means: ").user(str_or(description, kFlavour));
    }
    text.form("\n").form(kAskYesNo);
  }

  void write_options(const Question& question, PromptText& text) const {
    const bool score = question.kind == QuestionKind::score;
    if (score) text.form(" Pick the level that fits best, from lowest to highest.");
    text.form("\nOptions:\n");
    for (int i = 0; i < count_of(question.options); ++i) {
      const Option& option = question.options[at(i)];
      text.form(code(i) + ". ");
      if (score) {
        text.user(str_or(option.description, kFlavour));
      } else {
        text.user(option.key);
        if (!is_falsy(option.description)) {
          text.form(": ").user(str_or(option.description, kFlavour));
        }
      }
      text.form("\n");
    }
    text.form(count_of(question.options) > kOneLetterCount ? kAskLetters : kAskLetter);
  }

  ChatFormat format_;
  std::shared_ptr<const Readout> read_words_;
};

class ChatFamily final : public Family {
 public:
  std::string_view name() const override { return "chat"; }

  bool claims(const gguf::Metadata& metadata) const override {
    const auto type = decision_type(metadata);
    return type.ok() && !type.value() && chat_format(metadata).ok();
  }

  Result<std::unique_ptr<PromptCompiler>> open(const OpenedFile& opened) const override {
    ADJ_TRY(ChatFormat format, chat_format(opened.file->metadata()));
    ADJ_TRY(CompilerParts parts, open_parts(opened, name(), BucketScheme::counts));
    AnswerTokens answers(*opened.tokenizer, format);
    ADJ_TRY(std::vector<Label> labels, open_labels(answers));
    ADJ_TRY(std::vector<Tokens> words, open_words(answers));
    parts.traits.notes.push_back("a chat model in the format " + std::string(format.name) +
                                 ": it was not trained for decisions");
    ADJ_TRY(LabelParts label_parts, with_labels(std::move(parts), opened, std::move(labels)));
    label_parts.traits.options_trained = 0;
    return std::unique_ptr<PromptCompiler>(std::make_unique<ChatCompiler>(
        ChatParts{std::move(label_parts), std::move(format), std::move(words)}));
  }
};

}  // namespace

const Family& chat_family() {
  static const ChatFamily family;
  return family;
}

}  // namespace adjudge
