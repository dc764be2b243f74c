// OpenAI's Decisions: a list of questions, typed option values, an answer list in the same order.
// Reference: openai-node src/resources/decisions.ts.
#include <memory>
#include <set>

#include "base/size.h"
#include "json/print.h"
#include "protocol/decisions.h"
#include "protocol/fault_list.h"
#include "protocol/value_reading.h"

namespace adjudge {

namespace {

using json::Value;

constexpr int kQuestionCountMax = 400;
constexpr int kChoiceCountMin = 2;
constexpr int kLevelCountMin = 2;

// What an answer needs of its question, beside what a request holds.
struct Named {
  Value name;                 // null when unnamed
  std::vector<Value> values;  // of a choice: string or boolean; of a score: labels
};

class Reader {
 public:
  explicit Reader(const RequestLimits& limits) : limits_(limits), faults_(limits.fault_count_max) {}

  Result<Ask> read(const Value& body);

 private:
  void refuse(Path path, std::string type, std::string message) {
    faults_.refuse(std::move(path), std::move(type), std::move(message));
  }

  Value read_input(const Value* input);
  Value read_item(const Value& item, const Path& path);
  // Text alone where there is nothing but one text; otherwise a list of what the parts hold.
  Value read_content(const Value& content, const Path& path);
  Value read_part(const Value& part, const Path& path);
  void read_question(const Value& question, int index);
  void read_choices(const Value* choices, const Path& path, Question& question, Named& named);
  void read_levels(const Value* levels, const Path& path, Question& question, Named& named);

  const RequestLimits& limits_;
  FaultList faults_;
  Request request_;
  std::vector<Named> named_;
};

Value Reader::read_part(const Value& part, const Path& path) {
  const Value* type = part.find("type");
  const std::string kind = type == nullptr ? "" : type->text;
  if (kind == "input_text" || kind == "output_text") {
    const Value* text = part.find("text");
    if (text != nullptr && text->is_string()) return *text;
    refuse(path / "text", "string_type", "text must be a string");
  } else if (kind == "input_json") {
    const Value* data = part.find("data");
    if (data != nullptr && (data->is_object() || data->is_array())) return *data;
    refuse(path / "data", "dict_type", "data must be an object or a list");
  } else if (kind == "refusal") {
    const Value* text = part.find("refusal");
    if (text != nullptr && text->is_string()) return *text;
    refuse(path / "refusal", "string_type", "refusal must be a string");
  } else if (kind == "input_image" || kind == "input_audio" || kind == "input_file") {
    refuse(path, "not_supported", "this model reads text only; " + kind + " is not supported");
  } else {
    refuse(path / "type", "union_tag_invalid", "type must be input_text or input_json");
  }
  return {};
}

Value Reader::read_content(const Value& content, const Path& path) {
  if (content.is_string()) return content;
  if (!content.is_array()) {
    refuse(path, "string_type", "must be a string or a list of parts");
    return {};
  }
  std::vector<Value> parts;
  for (int i = 0; i < count_of(content.items); ++i) {
    parts.push_back(read_part(content.items[at(i)], path / std::to_string(i)));
  }
  if (parts.size() == 1) return std::move(parts.front());
  return json::array(std::move(parts));
}

Value Reader::read_item(const Value& item, const Path& path) {
  if (!item.is_object()) {
    refuse(path, "dict_type", "an input item must be an object");
    return {};
  }
  Value read = item;
  for (const char* name : {"content", "output"}) {
    Value* content = read.find(name);
    if (content != nullptr && !content->is_null()) *content = read_content(*content, path / name);
  }
  const Value* type = item.find("type");
  const bool message = type == nullptr || type->text == "message";
  if (message && absent(item.find("content"))) {
    refuse(path / "content", "missing", "a message needs content");
  }
  return read;
}

Value Reader::read_input(const Value* input) {
  const Path path = {"input"};
  if (absent(input)) {
    refuse(path, "missing", "input is required");
    return {};
  }
  if (input->is_string()) return *input;
  if (!input->is_array() || input->items.empty()) {
    refuse(path, "string_type", "input must be a string or a list of items");
    return {};
  }
  std::vector<Value> items;
  for (int i = 0; i < count_of(input->items); ++i) {
    items.push_back(read_item(input->items[at(i)], path / std::to_string(i)));
  }
  // One user message and its text alone are the same state.
  const Value* role = items.front().find("role");
  const Value* content = items.front().find("content");
  if (items.size() == 1 && role != nullptr && role->text == "user" && !absent(content)) {
    return *content;
  }
  return json::array(std::move(items));
}

void Reader::read_choices(const Value* choices, const Path& path, Question& question,
                          Named& named) {
  if (absent(choices)) return refuse(path, "missing", "choices are required");
  if (!choices->is_array()) return refuse(path, "list_type", "choices must be a list");
  faults_.check_count(path, choices->items.size(), kChoiceCountMin, limits_.option_count_max,
                      "choices");
  std::set<std::string> seen;  // as JSON, so that true and "true" differ
  for (int i = 0; i < count_of(choices->items); ++i) {
    const Path place = path / std::to_string(i);
    const Value& choice = choices->items[at(i)];
    const Value* value = choice.find("value");
    const bool fits =
        value != nullptr && (value->is_string() || value->type == json::Type::boolean);
    if (!fits) {
      refuse(place / "value", "string_type", "value must be a string or a boolean");
      continue;
    }
    const std::string text = json::print(*value, json::Flavour::compact);
    if (!seen.insert(text).second) refuse(place / "value", "value_error", "value is repeated");
    const Value* description = choice.find("description");
    question.options.push_back(
        {value->is_string() ? value->text : text, description == nullptr ? Value{} : *description});
    named.values.push_back(*value);
  }
}

void Reader::read_levels(const Value* levels, const Path& path, Question& question, Named& named) {
  if (absent(levels)) return refuse(path, "missing", "levels are required");
  if (!levels->is_array()) return refuse(path, "list_type", "levels must be a list");
  faults_.check_count(path, levels->items.size(), kLevelCountMin, limits_.level_count_max,
                      "levels");
  for (int i = 0; i < count_of(levels->items); ++i) {
    const Value& level = levels->items[at(i)];
    const Value* label = level.find("label");
    if (label == nullptr || !label->is_string()) {
      refuse(path / std::to_string(i) / "label", "string_type", "label must be a string");
      continue;
    }
    const Value* description = level.find("description");
    const bool described = !absent(description) && description->is_string();
    question.options.push_back(
        {std::to_string(i),
         described ? json::string(label->text + ": " + description->text) : *label});
    named.values.push_back(*label);
  }
}

void Reader::read_question(const Value& question, int index) {
  const Path path = {"questions", std::to_string(index)};
  const Value* type = question.find("type");
  if (type == nullptr) return refuse(path / "type", "union_tag_not_found", "type is required");
  Question asked{.id = std::to_string(index)};
  Named named;
  if (const Value* name = question.find("name"); !absent(name)) {
    if (!name->is_string()) refuse(path / "name", "string_type", "name must be a string");
    named.name = *name;
  }
  const Value* instructions = question.find("instructions");
  if (absent(instructions)) {
    refuse(path / "instructions", "missing", "instructions are required");
  } else {
    asked.instructions = read_content(*instructions, path / "instructions");
  }
  if (type->text == "predicate") {
    asked.kind = QuestionKind::noul;
    asked.options = {{"false", {}}, {"true", {}}};
  } else if (type->text == "choice") {
    read_choices(question.find("choices"), path / "choices", asked, named);
  } else if (type->text == "score") {
    asked.kind = QuestionKind::score;
    read_levels(question.find("levels"), path / "levels", asked, named);
  } else {
    return refuse(path / "type", "union_tag_invalid", "type must be predicate, choice or score");
  }
  request_.questions.push_back(std::move(asked));
  named_.push_back(std::move(named));
}

Value probability_of(double probability, std::vector<json::Member> what) {
  what.push_back({"probability", json::real(probability)});
  return json::object(std::move(what));
}

Value value_of(const Answer& answer, const Named& named) {
  std::vector<Value> probabilities;
  for (int i = 0; i < count_of(named.values); ++i) {
    const Value& value = named.values[at(i)];
    const double p = answer.probabilities[at(i)];
    probabilities.push_back(answer.kind == QuestionKind::score
                                ? probability_of(p, {{"value", json::integer(i)}, {"label", value}})
                                : probability_of(p, {{"value", value}}));
  }
  switch (answer.kind) {
    case QuestionKind::noul:
      return probability_of(answer.value,
                            {{"type", json::string("predicate")}, {"name", named.name}});
    case QuestionKind::choice:
      return json::object({{"type", json::string("choice")},
                           {"name", named.name},
                           {"choice", named.values[at(answer.best)]},
                           {"confidence", json::real(answer.confidence)},
                           {"probabilities", json::array(std::move(probabilities))}});
    case QuestionKind::score:
      return json::object({{"type", json::string("score")},
                           {"name", named.name},
                           {"score", json::real(answer.value)},
                           {"confidence", json::real(answer.confidence)},
                           {"probabilities", json::array(std::move(probabilities))}});
  }
  return {};
}

Value usage_of(const Usage& usage) {
  const Value none = json::integer(0);
  const Value tokens = json::integer(usage.input_tokens);
  return json::object({{"input_tokens", tokens},
                       {"input_tokens_details",
                        json::object({{"cached_tokens", none}, {"cache_write_tokens", none}})},
                       {"output_tokens", none},
                       {"output_tokens_details", json::object({{"reasoning_tokens", none}})},
                       {"total_tokens", tokens}});
}

std::string print(const Response& response, const std::vector<Named>& named) {
  std::vector<Value> answers;
  for (int i = 0; i < count_of(named); ++i) {
    answers.push_back(value_of(response.answers[at(i)], named[at(i)]));
  }
  return json::print(json::object({{"model", json::string(response.model)},
                                   {"answers", json::array(std::move(answers))},
                                   {"usage", usage_of(response.usage)}}),
                     json::Flavour::compact);
}

Result<Ask> Reader::read(const Value& body) {
  if (!body.is_object()) refuse({}, "dict_type", "the body must be an object");
  if (const Value* model = body.find("model"); !absent(model)) {
    if (!model->is_string()) refuse({"model"}, "string_type", "model must be a string");
    request_.model = model->text;
  }
  request_.state = read_input(body.find("input"));
  const Value* questions = body.find("questions");
  if (absent(questions)) {
    refuse({"questions"}, "missing", "questions are required");
  } else if (!questions->is_array()) {
    refuse({"questions"}, "list_type", "questions must be a list");
  } else {
    faults_.check_count({"questions"}, questions->items.size(), 1, kQuestionCountMax, "questions");
    for (int i = 0; i < std::min(count_of(questions->items), kQuestionCountMax); ++i) {
      read_question(questions->items[at(i)], i);
    }
  }
  if (!faults_.empty()) return std::move(faults_).error();
  Ask ask;
  ask.print = [named = std::move(named_)](std::span<const Answered> answered) {
    return print(*answered.front().response, named);
  };
  ask.requests.push_back(std::move(request_));
  return ask;
}

}  // namespace

Result<Ask> read_openai_decisions(Value body, const RequestLimits& limits) {
  return Reader(limits).read(body);
}

}  // namespace adjudge
