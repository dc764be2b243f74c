// SGLang's decisions: ids, `question`, options of a name and a description, yes_no. What it lets
// callers set and we cannot do is refused by name. Reference: sglang serving_decisions.py.
#include <set>

#include "base/size.h"
#include "json/print.h"
#include "protocol/decisions.h"
#include "protocol/fault_list.h"
#include "protocol/value_reading.h"

namespace adjudge {

namespace {

using json::Value;

constexpr int kCountMin = 2;
constexpr int kFormatVersion = 1;

bool is_false(const Value& value) { return value.type == json::Type::boolean && !value.boolean; }

// Holds no items and no members; a text is something, whatever it says.
bool is_empty(const Value& value) {
  return (value.is_array() && value.items.empty()) || (value.is_object() && value.members.empty());
}

class Reader {
 public:
  explicit Reader(const RequestLimits& limits) : limits_(limits), faults_(limits.fault_count_max) {}

  Result<Ask> read(const Value& body) {
    refuse_settings(body);
    request_.extras.label_mass = Wish::if_possible;
    if (const Value* model = body.find("model"); !absent(model)) {
      if (!model->is_string()) refuse({"model"}, "string_type", "model must be a string");
      request_.model = model->text == "default" ? "" : model->text;
    }
    if (const Value* input = body.find("input"); absent(input)) {
      refuse({"input"}, "missing", "input is required");
    } else {
      request_.state = *input;
    }
    const std::vector<Value>& questions = body.find("questions")->items;  // or we were not called
    faults_.check_count({"questions"}, questions.size(), 1, limits_.question_count_max,
                        "questions");
    for (int i = 0; i < std::min(count_of(questions), limits_.question_count_max); ++i) {
      read_question(questions[at(i)], {"questions", std::to_string(i)});
    }
    if (!faults_.empty()) return std::move(faults_).error();
    Ask ask;
    ask.print = print;
    ask.requests.push_back(std::move(request_));
    return ask;
  }

 private:
  void refuse(Path path, std::string type, std::string message) {
    faults_.refuse(std::move(path), std::move(type), std::move(message));
  }

  void refuse_settings(const Value& body) {
    const auto differs = [&](const char* name, double usual) {
      const Value* value = body.find(name);
      return !absent(value) && number_of(*value) != usual;
    };
    const auto refuse_setting = [&](const char* name, const std::string& why) {
      refuse({name}, "not_supported", why);
    };
    if (differs("temperature", 1)) refuse_setting("temperature", "only a temperature of 1");
    if (differs("prompt_format_version", kFormatVersion)) {
      refuse_setting("prompt_format_version", "only version 1");
    }
    const Value* ids = body.find("return_prompt_token_ids");
    if (!absent(ids) && !is_false(*ids)) refuse_setting("return_prompt_token_ids", "not offered");
    for (const char* name : {"images", "chat_template_kwargs"}) {
      const Value* value = body.find(name);
      if (!absent(value) && !is_empty(*value)) {
        refuse_setting(name, "not offered by this model");
      }
    }
  }

  void read_question(const Value& question, const Path& path) {
    const Value* id = question.find("id");
    if (absent(id) || !id->is_string() || id->text.empty()) {
      return refuse(path / "id", "string_type", "id must be a string that is not empty");
    }
    if (!ids_.insert(id->text).second) refuse(path / "id", "value_error", "id is repeated");
    Question asked{.id = id->text};
    const Value* text = question.find("question");
    if (absent(text)) {
      refuse(path / "question", "missing", "question is required");
    } else {
      asked.instructions = *text;
    }
    const Value* type = question.find("type");
    const std::string kind = absent(type) ? "" : type->text;
    if (kind == "choice") {
      read_options(question.find("options"), path / "options", asked);
    } else if (kind == "score") {
      asked.kind = QuestionKind::score;
      read_levels(question.find("levels"), path / "levels", asked);
    } else if (kind == "yes_no") {
      asked.kind = QuestionKind::noul;
      const Value *no = question.find("no"), *yes = question.find("yes");
      asked.options = {{"false", no == nullptr ? Value{} : *no},
                       {"true", yes == nullptr ? Value{} : *yes}};
    } else {
      return refuse(path / "type", "union_tag_invalid", "type must be choice, score or yes_no");
    }
    request_.questions.push_back(std::move(asked));
  }

  void read_options(const Value* options, const Path& path, Question& question) {
    if (absent(options)) return refuse(path, "missing", "options are required");
    faults_.check_count(path, options->items.size(), kCountMin, limits_.option_count_max,
                        "options");
    std::set<std::string> names;
    for (int i = 0; i < count_of(options->items); ++i) {
      const Value* name = options->items[at(i)].find("name");
      const Path place = path / std::to_string(i) / "name";
      if (absent(name) || !name->is_string() || name->text.empty()) {
        refuse(place, "string_type", "name must be a string that is not empty");
        continue;
      }
      if (!names.insert(name->text).second) refuse(place, "value_error", "name is repeated");
      const Value* description = options->items[at(i)].find("description");
      question.options.push_back({name->text, description == nullptr ? Value{} : *description});
    }
  }

  void read_levels(const Value* levels, const Path& path, Question& question) {
    if (absent(levels)) return refuse(path, "missing", "levels are required");
    faults_.check_count(path, levels->items.size(), kCountMin, limits_.level_count_max, "levels");
    for (int i = 0; i < count_of(levels->items); ++i) {
      const Value& level = levels->items[at(i)];
      if (level.is_null()) {
        refuse(path / std::to_string(i), "missing", "a level must not be null");
      }
      question.options.push_back({std::to_string(i), level});
    }
  }

  static Value value_of(const Answer& answer, const Question& question) {
    const bool yes_no = answer.kind == QuestionKind::noul;
    std::vector<json::Member> probabilities;
    for (int i = 0; i < count_of(question.options); ++i) {
      const std::string& key = question.options[at(i)].key;
      probabilities.push_back(
          {yes_no ? (key == "true" ? "yes" : "no") : key, json::real(answer.probabilities[at(i)])});
    }
    std::vector<json::Member> members = {
        {"type", json::string(yes_no ? "yes_no" : kind_name(answer.kind))},
        {"probabilities", json::object(std::move(probabilities))}};
    if (answer.label_mass) members.push_back({"label_mass", json::real(*answer.label_mass)});
    if (answer.kind == QuestionKind::choice) {
      members.push_back({"choice", json::string(question.options[at(answer.best)].key)});
    }
    if (answer.kind == QuestionKind::score) {
      members.push_back({"score", json::real(answer.value)});
    }
    return json::object(std::move(members));
  }

  static std::string print(std::span<const Answered> answered) {
    const auto& [request, response] = answered.front();
    std::vector<json::Member> answers;
    for (int i = 0; i < count_of(response->answers); ++i) {
      answers.push_back({response->answers[at(i)].id,
                         value_of(response->answers[at(i)], request->questions[at(i)])});
    }
    const Value tokens = json::integer(response->usage.input_tokens);
    return json::print(
        json::object({{"object", json::string("decisions")},
                      {"model", json::string(response->model)},
                      {"prompt_format_version", json::integer(kFormatVersion)},
                      {"answers", json::object(std::move(answers))},
                      {"usage", json::object({{"prompt_tokens", tokens},
                                              {"completion_tokens", json::integer(0)},
                                              {"total_tokens", tokens}})}}),
        json::Flavour::compact);
  }

  const RequestLimits& limits_;
  FaultList faults_;
  std::set<std::string> ids_;
  Request request_;
};

}  // namespace

Result<Ask> read_sglang_decisions(Value body, const RequestLimits& limits) {
  return Reader(limits).read(body);
}

}  // namespace adjudge
