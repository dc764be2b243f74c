// Kev: state, question and options between fill-in markers, as indented text; the end of each
// option is a key, the end of the prompt the query.
// Reference: kev/model.py and the systemone template of its GGUF.
#include <algorithm>

#include "base/try.h"
#include "family/compile/decision_family.h"
#include "family/compile/question_compiler.h"
#include "json/print.h"
#include "protocol/limits.h"
#include "readout/pointer.h"

namespace adjudge {
namespace {

constexpr std::string_view kOptionEnd = "<|box_end|>";
constexpr int kOptionCountMax = RequestLimits{}.option_count_max;  // kev's own limit too

std::string flatten(const json::Value& value, int indent);

std::string without_leading_space(const std::string& text) {
  return text.substr(std::min(text.find_first_not_of(" \t\n\r"), text.size()));
}

std::string flatten_item(const json::Value& item, int indent) {
  return std::string(at(indent) * 2, ' ') + "- " + without_leading_space(flatten(item, indent + 1));
}

std::string flatten_member(const json::Member& member, int indent) {
  const std::string key = std::string(at(indent) * 2, ' ') + member.key;
  const bool nested = member.value.is_object() || member.value.is_array();
  return nested ? key + ":\n" + flatten(member.value, indent + 1)
                : key + ": " + flatten(member.value, 0);
}

// Python's text of a value, one line per item or member; nothing for null and for empty containers.
std::string flatten(const json::Value& value, int indent) {
  std::string lines;
  switch (value.type) {
    case json::Type::null:
      return "";
    case json::Type::boolean:
      return value.boolean ? "True" : "False";
    case json::Type::integer:
    case json::Type::string:
      return value.text;
    case json::Type::real:
      return json::python_repr(value.real);
    case json::Type::array:
      for (const json::Value& item : value.items) {
        lines += (&item == value.items.data() ? "" : "\n") + flatten_item(item, indent);
      }
      return lines;
    case json::Type::object:
      for (const json::Member& member : value.members) {
        lines += (&member == value.members.data() ? "" : "\n") + flatten_member(member, indent);
      }
      return lines;
  }
  return lines;
}

bool is_name_letter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

// The end of a "<|name|>" that begins at `begin`; npos when there is none.
std::size_t marker_end(std::string_view text, std::size_t begin) {
  if (text.substr(begin, 2) != "<|") return std::string_view::npos;
  std::size_t end = begin + 2;
  while (end < text.size() && is_name_letter(text[end])) ++end;
  const bool named = end > begin + 2;
  return named && text.substr(end, 2) == "|>" ? end + 2 : std::string_view::npos;
}

// "<|name|>" becomes "<¦name¦>": the trainer's own protection of its markers.
std::string break_bars(std::string_view text) {
  constexpr std::string_view kBrokenBar = "\xC2\xA6";
  std::string broken;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t end = marker_end(text, i);
    if (end == std::string_view::npos) {
      broken += text[i];
      continue;
    }
    broken.append("<").append(kBrokenBar).append(text.substr(i + 2, end - i - 4));
    broken.append(kBrokenBar).append(">");
    i = end - 1;
  }
  return broken;
}

std::string shown(const json::Value& value) { return break_bars(flatten(value, 0)); }

void write_option(const Question& question, int index, PromptText& text) {
  const Option& option = question.options[at(index)];
  const std::string description = shown(option.description);
  text.form("<|box_start|>");
  if (question.kind == QuestionKind::noul) text.form(index == 1 ? "yes" : "no");
  if (question.kind == QuestionKind::choice) text.user(break_bars(option.key));
  if (question.kind != QuestionKind::score && !description.empty()) text.form(": ");
  text.user(description).form(kOptionEnd);
}

class KevCompiler final : public QuestionCompiler {
 public:
  KevCompiler(CompilerParts parts, const PointerHead& head, Token option_end)
      : QuestionCompiler(std::move(parts)),
        readout_(std::make_shared<PointerReadout>(head)),
        option_end_(option_end) {}

 private:
  std::vector<Phrasing> phrase(const Asked& asked) const override {
    const Question& question = asked.question();
    PromptText text(asked.user_text());
    text.form("<|fim_prefix|>").user(shown(asked.request.state));
    text.border().form("<|fim_middle|>").user(shown(question.instructions));
    const int option_count = count_of(question.options);
    for (int i = 0; i < option_count; ++i) write_option(question, i, text);
    text.form("<|fim_suffix|>");
    return {{std::move(text), 0, options_in_order(option_count), readout_}};
  }

  // Broken bars keep the caller from writing an option end, so there is one per option.
  Result<Layout> lay_out(const Asked&, const Tokens& tokens) const override {
    Layout layout{{.tokens = tokens}, {}, {}};
    const int last = count_of(tokens) - 1;
    for (int i = 0; i < last; ++i) {
      if (tokens[at(i)] == option_end_) layout.prompt.wanted.push_back(i);
    }
    layout.prompt.wanted.push_back(last);
    return layout;
  }

  std::shared_ptr<const Readout> readout_;
  Token option_end_;
};

class KevFamily final : public DecisionFamily {
 public:
  std::string_view name() const override { return "kev"; }

  Result<std::unique_ptr<PromptCompiler>> open(const OpenedFile& opened) const override {
    ADJ_TRY(CompilerParts parts, open_parts(opened, name(), BucketScheme::counts));
    parts.traits.readout = "pointer";
    parts.traits.options_trained = kOptionCountMax;
    parts.traits.options_max = kOptionCountMax;
    ADJ_TRY_DONE(check_markers(*opened.tokenizer));
    ADJ_TRY(const int output_count, output_count_of(*opened.file));
    ADJ_TRY(const PointerHead head, open_pointer_head(*opened.weights, output_count, opened.width));
    return std::unique_ptr<PromptCompiler>(
        std::make_unique<KevCompiler>(std::move(parts), head, *opened.tokenizer->find(kOptionEnd)));
  }

 private:
  static Status check_markers(const text::Tokenizer& tokenizer) {
    for (const std::string_view marker :
         {std::string_view("<|fim_prefix|>"), std::string_view("<|fim_middle|>"),
          std::string_view("<|fim_suffix|>"), std::string_view("<|box_start|>"), kOptionEnd}) {
      if (tokenizer.find(marker)) continue;
      return Error{ErrorKind::bad_model, "tokenizer.ggml.tokens: \"" + std::string(marker) +
                                             "\" is missing, which kev's prompts need"};
    }
    return Done{};
  }

  static Result<int> output_count_of(const gguf::File& file) {
    const std::string key = std::string(file.architecture()) + ".embedding_length_out";
    ADJ_TRY(const int count, file.metadata().integer(key, 2, 1 << 16));
    if (count % 2 == 0) return count;
    return Error{ErrorKind::bad_model,
                 key + ": found " + std::to_string(count) + ", expected an even number"};
  }
};

}  // namespace

const Family& kev_family() {
  static const KevFamily family;
  return family;
}

}  // namespace adjudge
