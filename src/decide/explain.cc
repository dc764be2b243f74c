#include "decide/explain.h"

#include <algorithm>
#include <array>

#include "base/size.h"
#include "base/try.h"
#include "engine/evaluate.h"
#include "plan/prefix_forest.h"

namespace adjudge {

namespace {

using json::Member;
using json::Value;

Value integers(std::span<const int> values) {
  std::vector<Value> items;
  for (const int value : values) items.push_back(json::integer(value));
  return json::array(std::move(items));
}

// As pairs of role and length.
Value describe_roles(const std::vector<RoleRun>& roles) {
  std::vector<Value> items;
  for (const RoleRun& run : roles) items.push_back(integers(std::array{run.role, run.token_count}));
  return json::array(std::move(items));
}

Value describe_prompts(const Request& request, const Compiled& compiled) {
  std::vector<Value> items;
  for (int i = 0; i < count_of(compiled.prompts); ++i) {
    const PromptNote& note = compiled.notes[at(i)];
    const Prompt& prompt = compiled.prompts[at(i)];
    std::vector<Member> members = {
        {"question", json::string(request.questions[at(note.question)].id)},
        {"order", json::integer(note.order)},
        {"text", json::string(note.text)},
        {"ids", integers(note.uncut.empty() ? prompt.tokens : note.uncut)}};
    if (!note.uncut.empty()) members.push_back({"evaluated_ids", integers(prompt.tokens)});
    if (!note.roles.empty()) members.push_back({"roles", describe_roles(note.roles)});
    members.push_back({"wanted", integers(prompt.wanted)});
    items.push_back(json::object(std::move(members)));
  }
  return json::array(std::move(items));
}

Value describe_tree(const PrefixForest& forest) {
  std::vector<Value> items;
  for (const Segment& segment : forest.segments) {
    items.push_back(
        json::object({{"parent", segment.parent < 0 ? json::null() : json::integer(segment.parent)},
                      {"prompt", json::integer(segment.prompt)},
                      {"begin", json::integer(segment.begin)},
                      {"end", json::integer(segment.end)},
                      {"continued", json::boolean(segment.continued)},
                      {"wanted", integers(segment.wanted)}}));
  }
  return json::array(std::move(items));
}

// One list per pass through the layers.
Value describe_steps(const PrefixForest& forest, int rows_max) {
  std::vector<Value> passes;
  for (const std::vector<Step>& pass : plan_passes(forest, Reuse::none(forest), rows_max)) {
    std::vector<Value> steps;
    for (const Step& step : pass) {
      steps.push_back(json::object({{"segment", json::integer(step.segment)},
                                    {"begin", json::integer(step.begin)},
                                    {"end", json::integer(step.end)}}));
    }
    passes.push_back(json::array(std::move(steps)));
  }
  return json::array(std::move(passes));
}

Value describe_readings(const Request& request, const Compiled& compiled,
                        const Calibration& calibration) {
  std::vector<Value> items;
  for (int q = 0; q < count_of(compiled.questions); ++q) {
    const Question& question = request.questions[at(q)];
    const QuestionPlan& plan = compiled.questions[at(q)];
    const double temperature = calibration.temperature(question.kind, count_of(question.options));
    for (const Reading& reading : plan.readings) {
      items.push_back(
          json::object({{"question", json::string(question.id)},
                        {"prompt", json::integer(reading.prompt)},
                        {"fold", json::string(plan.fold == Fold::mean ? "mean" : "rating_scale")},
                        {"option_of", integers(reading.option_of)},
                        {"temperature", json::real(temperature)}}));
    }
  }
  return json::array(std::move(items));
}

Value text_or_null(std::string_view text) {
  return text.empty() ? json::null() : json::string(text);
}

Value describe_calibration(const Calibration& calibration) {
  std::vector<Member> temperatures;
  for (const auto& [kind, value] : calibration.temperatures)
    temperatures.push_back({kind, json::real(value)});
  std::vector<Member> biases;
  for (const auto& [kind, values] : calibration.biases) {
    std::vector<Value> items;
    for (const double value : values) items.push_back(json::real(value));
    biases.push_back({kind, json::array(std::move(items))});
  }
  return json::object({{"temperatures", json::object(std::move(temperatures))},
                       {"biases", json::object(std::move(biases))}});
}

Value describe_family(const FamilyTraits& family) {
  std::vector<Value> notes;
  for (const std::string& note : family.notes) notes.push_back(json::string(note));
  return json::object({{"name", json::string(family.name)},
                       {"readout", json::string(family.readout)},
                       {"options_trained", json::integer(family.options_trained)},
                       {"options_max", json::integer(family.options_max)},
                       {"shows_all_questions", json::boolean(family.shows_all_questions)},
                       {"notes", json::array(std::move(notes))}});
}

Value describe_backbone(const BackboneTraits& traits) {
  return json::object(
      {{"name", json::string(traits.name)},
       {"width", json::integer(traits.width)},
       {"layers", json::integer(traits.layer_count)},
       {"vocabulary", json::integer(traits.vocabulary_count)},
       {"positions_max", json::integer(traits.positions_max)},
       {"causal", json::boolean(traits.causal)},
       {"memory_bytes_per_token",
        json::integer(static_cast<long long>(traits.memory_bytes_per_token))},
       {"memory_bytes_fixed", json::integer(static_cast<long long>(traits.memory_bytes_fixed))}});
}

// Bytes of tensors by weight format.
Value describe_weights(const gguf::File& file) {
  std::vector<Member> formats;
  for (const gguf::Tensor& tensor : file.tensors()) {
    const char* name = gguf::traits_of(tensor.type).name;
    const auto found = std::ranges::find(formats, name, &Member::key);
    const auto bytes = static_cast<long long>(tensor.bytes.size());
    if (found == formats.end()) {
      formats.push_back({name, json::integer(bytes)});
    } else {
      found->value = json::integer(std::stoll(found->value.text) + bytes);
    }
  }
  return json::object(std::move(formats));
}

// What --precision auto computes in on this machine, by weight format.
Value describe_precision(const gguf::File& file) {
  std::vector<Member> formats;
  for (const auto& [format, arithmetic] :
       describe_arithmetic(file, kernel::make_table(), Precision::automatic)) {
    formats.push_back({format, json::string(arithmetic)});
  }
  return json::object({{"auto", json::object(std::move(formats))}});
}

Value describe_tokenizer(const ModelFile& file) {
  const text::Tokenizer& tokenizer = file.tokenizer();
  std::vector<Value> special;
  for (Token token = 0; token < tokenizer.vocabulary_count(); ++token) {
    if (tokenizer.type(token) == text::TokenType::control)
      special.push_back(json::string(tokenizer.text_of(token)));
  }
  const auto bos = tokenizer.bos();
  return json::object({{"split", json::string(tokenizer.split_name())},
                       {"vocabulary", json::integer(tokenizer.vocabulary_count())},
                       {"bos", bos ? json::string(tokenizer.text_of(*bos)) : json::null()},
                       {"special", json::array(std::move(special))}});
}

}  // namespace

Result<json::Value> explain(const ModelFile& file, const Request& request,
                            const CompileOptions& options) {
  ADJ_TRY(const Compiled compiled, compile_within_limits(file, request, options));
  std::vector<const Prompt*> prompts;
  for (const Prompt& prompt : compiled.prompts) prompts.push_back(&prompt);
  const PrefixForest forest = build_prefix_forest(prompts);
  return json::object(
      {{"model", json::string(file.name())},
       {"family", json::string(file.compiler().traits().name)},
       {"prompts", describe_prompts(request, compiled)},
       {"tree", describe_tree(forest)},
       {"steps", describe_steps(forest, BackboneOptions{}.rows_max)},
       {"readings", describe_readings(request, compiled, file.compiler().calibration())},
       {"tokens", json::object({{"prompts", json::integer(forest.prompt_token_count)},
                                {"evaluated", json::integer(forest.evaluated_count)},
                                {"shared", json::integer(forest.prompt_token_count -
                                                         forest.evaluated_count)}})}});
}

json::Value inspect(const ModelFile& file) {
  const auto name = file.file().metadata().find_string("general.name");
  const std::string_view title = name.ok() && name.value() ? *name.value() : std::string_view{};
  return json::object({{"file", json::string(file.file().path())},
                       {"bytes", json::integer(static_cast<long long>(file.file().bytes()))},
                       {"fingerprint", json::string(file.fingerprint())},
                       {"title", text_or_null(title)},
                       {"family", describe_family(file.compiler().traits())},
                       {"calibration", describe_calibration(file.compiler().calibration())},
                       {"backbone", describe_backbone(file.traits())},
                       {"weights", describe_weights(file.file())},
                       {"precision", describe_precision(file.file())},
                       {"tokenizer", describe_tokenizer(file)}});
}

}  // namespace adjudge
