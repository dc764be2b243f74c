// Bytes to a request. Collects faults as it goes, so every check says what it found and goes on.

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/size.h"
#include "base/try.h"
#include "protocol/fault_list.h"
#include "protocol/systemone.h"
#include "protocol/value_reading.h"

namespace adjudge {
namespace {

using json::Value;
Value take(Value* value) { return value == nullptr ? Value{} : std::move(*value); }

bool holds_something(const Value* value) {
  if (absent(value)) return false;
  if (value->is_array()) return !value->items.empty();
  return !value->is_object() || !value->members.empty();
}

// Whether a message carries a picture or a sound among its parts.
bool carries_media(const Value& message) {
  const Value* content = message.find("content");
  if (content == nullptr) return false;
  return std::ranges::any_of(content->items, [](const Value& part) {
    const Value* type = part.find("type");
    return type != nullptr && (type->text == "image_url" || type->text == "input_audio");
  });
}

std::optional<QuestionKind> kind_named(const Value& name) {
  for (const QuestionKind kind : {QuestionKind::choice, QuestionKind::score, QuestionKind::noul}) {
    if (name.is_string() && name.text == kind_name(kind)) return kind;
  }
  return std::nullopt;
}

class Reader {
 public:
  explicit Reader(const RequestLimits& limits) : limits_(limits), faults_(limits.fault_count_max) {}

  Result<Request> read(Value body) {
    Request request;
    if (is_object(body)) {
      read_model(body.find("model"), request);
      read_state(body.find("state"), request);
      ADJ_TRY_DONE(read_rest(body, request));
    }
    if (!faults_.empty()) return std::move(faults_).error();
    return request;
  }

  Result<SystemOneBatch> read_batch(Value body) {
    SystemOneBatch batch;
    if (is_object(body)) {
      read_model(body.find("model"), batch.questions);
      read_states(body.find("states"), batch.states);
      ADJ_TRY_DONE(read_rest(body, batch.questions));
    }
    if (!faults_.empty()) return std::move(faults_).error();
    return batch;
  }

 private:
  bool is_object(const Value& body) {
    if (!body.is_object()) refuse({}, "dict_type", "the body must be an object");
    return body.is_object();
  }

  void refuse(Path path, std::string type, std::string message) {
    faults_.refuse(std::move(path), std::move(type), std::move(message));
  }

  void check_count(const Path& path, std::size_t count, int most, const std::string& noun) {
    faults_.check_count(path, count, 1, most, noun);
  }

  // What a single request and a batch have in common, after the states.
  Status read_rest(Value& body, Request& request) {
    read_extras(body, request.extras);
    refuse_media(body);
    return read_questions(body.find("questions"), request);
  }

  void read_states(Value* states, std::vector<Value>& rows) {
    if (absent(states)) return refuse({"states"}, "missing", "states are required");
    if (!states->is_array()) return refuse({"states"}, "list_type", "states must be a list");
    if (states->items.empty()) refuse({"states"}, "too_short", "0 states, at least 1");
    for (const Value& state : states->items) refuse_media_in(state);
    rows = std::move(states->items);
  }

  bool read_flag(const Value& body, const char* name) {
    const Value* flag = body.find(name);
    if (absent(flag)) return false;
    if (flag->type != json::Type::boolean) {
      refuse({name}, "bool_type", std::string(name) + " must be true or false");
    }
    return flag->boolean;
  }

  void read_order_count(const Value* orders, Extras& extras) {
    if (absent(orders)) return;
    const std::optional<double> count = number_of(*orders);
    // Validators of JSON take 2.0 for a whole number.
    const bool whole = count && *count == std::floor(*count);
    if (!(whole && *count >= 1 && *count <= limits_.order_count_max)) {
      return refuse(
          {"x_orders"}, "int_type",
          "x_orders must be a whole number from 1 to " + std::to_string(limits_.order_count_max));
    }
    extras.order_count_max = static_cast<int>(*count);
  }

  void read_extras(const Value& body, Extras& extras) {
    extras.logits = read_flag(body, "x_logits");
    extras.temperature = read_flag(body, "x_temperature");
    extras.usage = read_flag(body, "x_usage");
    extras.timing = read_flag(body, "x_timing");
    if (read_flag(body, "x_label_mass")) extras.label_mass = Wish::required;
    read_order_count(body.find("x_orders"), extras);
    const Value* least = body.find("x_min_confidence");
    if (absent(least)) return;
    const std::optional<double> value = number_of(*least);
    if (!value || !(*value >= 0 && *value <= 1)) {
      return refuse({"x_min_confidence"}, "float_type", "x_min_confidence must be from 0 to 1");
    }
    extras.confidence_min = *value;
  }

  void read_model(Value* model, Request& request) {
    if (model == nullptr) return;
    if (!model->is_string()) return refuse({"model"}, "string_type", "model must be a string");
    request.model = std::move(model->text);
  }

  void read_state(Value* state, Request& request) {
    if (absent(state)) return refuse({"state"}, "missing", "state is required");
    refuse_media_in(*state);
    request.state = std::move(*state);
  }

  // A state may be messages, or an object with messages.
  void refuse_media_in(const Value& state) {
    const Value* messages = state.find("messages");
    const Value& list = messages == nullptr ? state : *messages;
    for (int i = 0; i < count_of(list.items); ++i) {
      if (!carries_media(list.items[at(i)])) continue;
      const Path path = messages == nullptr ? Path{"state"} : Path{"state", "messages"};
      refuse(path / std::to_string(i), "extra_forbidden", "pictures and sounds are not supported");
    }
  }

  // An answer that has not seen a picture it was sent would look like one that has.
  void refuse_media(const Value& body) {
    for (const char* name : {"assets", "files", "images", "videos"}) {
      if (holds_something(body.find(name))) {
        refuse({name}, "extra_forbidden", std::string(name) + " are not supported");
      }
    }
  }

  Status read_questions(Value* questions, Request& request) {
    const Path path = {"questions"};
    if (absent(questions)) {
      refuse(path, "missing", "questions are required");
      return Done{};
    }
    if (!questions->is_object()) {
      refuse(path, "dict_type", "questions must be an object from id to question");
      return Done{};
    }
    const std::size_t count = questions->members.size();
    const int most = limits_.question_count_max;
    if (count > at(most)) {  // not worth looking at one by one
      return Error{ErrorKind::too_large, {{path, "too_long", too_many(count, most, "questions")}}};
    }
    check_count(path, count, most, "questions");
    for (json::Member& member : questions->members) read_question(member, request);
    return Done{};
  }

  void read_question(json::Member& member, Request& request) {
    if (member.key.empty()) {
      return refuse({"questions"}, "too_short", "a question id must not be empty");
    }
    if (member.key.size() > at(limits_.id_bytes_max)) {
      return refuse({"questions"}, "too_long",
                    too_many(member.key.size(), limits_.id_bytes_max, "bytes of question id"));
    }
    const Path path = {"questions", member.key};
    if (!member.value.is_object()) return refuse(path, "dict_type", "a question must be an object");
    const Value* type = member.value.find("type");
    if (type == nullptr) return refuse(path / "type", "union_tag_not_found", "type is required");
    const auto kind = kind_named(*type);
    if (!kind) {
      return refuse(path / "type", "union_tag_invalid", "type must be choice, score or noul");
    }
    Question question{.id = member.key, .kind = *kind};
    question.instructions = take(member.value.find("instructions"));
    read_criteria(member.value.find("criteria"), question);
    request.questions.push_back(std::move(question));
  }

  void read_criteria(Value* criteria, Question& question) {
    const Path path = member_path(question, "criteria");
    switch (question.kind) {
      case QuestionKind::choice:
        return read_choices(path, criteria, question);
      case QuestionKind::score:
        return read_levels(path, criteria, question);
      case QuestionKind::noul:
        return read_sides(path, criteria, question);
    }
  }

  void read_choices(const Path& path, Value* criteria, Question& question) {
    if (absent(criteria)) return refuse(path, "missing", "choice criteria are required");
    if (!criteria->is_object()) {
      return refuse(path, "dict_type", "choice criteria must be an object");
    }
    check_count(path, criteria->members.size(), limits_.option_count_max, "options");
    for (json::Member& member : criteria->members) {
      question.options.push_back({std::move(member.key), std::move(member.value)});
    }
  }

  void read_levels(const Path& path, Value* criteria, Question& question) {
    if (absent(criteria)) return refuse(path, "missing", "score criteria are required");
    if (!criteria->is_array()) return refuse(path, "list_type", "score criteria must be a list");
    check_count(path, criteria->items.size(), limits_.level_count_max, "levels");
    for (Value& level : criteria->items) {
      std::string key = std::to_string(question.options.size());
      if (level.is_null()) refuse(path / key, "missing", "a level must not be null");
      question.options.push_back({std::move(key), std::move(level)});
    }
  }

  void read_sides(const Path& path, Value* criteria, Question& question) {
    if (!absent(criteria) && !criteria->is_object()) {
      return refuse(path, "dict_type", "noul criteria must be an object");
    }
    bool described = false;
    for (const char* side : {"false", "true"}) {
      Value description = take(criteria == nullptr ? nullptr : criteria->find(side));
      const bool empty = description.is_string() && description.text.empty();
      described = described || !(description.is_null() || empty);
      question.options.push_back({side, std::move(description)});
    }
    if (question.instructions.is_null() && !described) {
      refuse(member_path(question, "instructions"), "missing",
             "a noul needs instructions or criteria");
    }
  }

  const RequestLimits& limits_;
  FaultList faults_;
};

}  // namespace

Result<Request> parse_systemone(std::string_view body, const RequestLimits& limits) {
  ADJ_TRY(Value value, json::parse(body, limits.json));
  return Reader(limits).read(std::move(value));
}

Result<SystemOneBatch> parse_systemone_batch(std::string_view body, const RequestLimits& limits) {
  ADJ_TRY(Value value, json::parse(body, limits.json));
  return Reader(limits).read_batch(std::move(value));
}

}  // namespace adjudge
