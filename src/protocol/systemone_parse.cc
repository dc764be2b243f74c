// Bytes to a request. Collects faults as it goes, so every check says what it found and goes on.

#include <optional>

#include "base/size.h"
#include "base/try.h"
#include "protocol/systemone.h"

namespace adjudge {
namespace {

using json::Value;
using Path = std::vector<std::string>;

bool absent(const Value* value) { return value == nullptr || value->is_null(); }

Value take(Value* value) { return value == nullptr ? Value{} : std::move(*value); }

Path operator/(Path path, std::string step) {
  path.push_back(std::move(step));
  return path;
}

bool holds_something(const Value* value) {
  if (absent(value)) return false;
  if (value->is_array()) return !value->items.empty();
  return !value->is_object() || !value->members.empty();
}

std::optional<QuestionKind> kind_named(const Value& name) {
  for (const QuestionKind kind : {QuestionKind::choice, QuestionKind::score, QuestionKind::noul}) {
    if (name.is_string() && name.text == kind_name(kind)) return kind;
  }
  return std::nullopt;
}

std::string too_many(std::size_t count, int most, const std::string& noun) {
  return std::to_string(count) + " " + noun + ", at most " + std::to_string(most);
}

class Reader {
 public:
  explicit Reader(const RequestLimits& limits) : limits_(limits) {}

  Result<Request> read(Value body) {
    Request request;
    if (!body.is_object()) {
      refuse({}, "dict_type", "the body must be an object");
    } else {
      read_model(body.find("model"), request);
      read_state(body.find("state"), request);
      refuse_media(body);
      ADJ_TRY_DONE(read_questions(body.find("questions"), request));
    }
    if (!faults_.empty()) return Error{ErrorKind::bad_request, std::move(faults_)};
    return request;
  }

 private:
  void refuse(Path path, std::string type, std::string message) {
    if (count_of(faults_) == limits_.fault_count_max) return;
    faults_.push_back({std::move(path), std::move(type), std::move(message)});
  }

  // Between 1 and `most`, or a fault.
  void check_count(const Path& path, std::size_t count, int most, const std::string& noun) {
    if (count == 0) refuse(path, "too_short", "0 " + noun + ", at least 1");
    if (count > at(most)) refuse(path, "too_long", too_many(count, most, noun));
  }

  void read_model(Value* model, Request& request) {
    if (model == nullptr) return;
    if (!model->is_string()) return refuse({"model"}, "string_type", "model must be a string");
    request.model = std::move(model->text);
  }

  void read_state(Value* state, Request& request) {
    if (absent(state)) return refuse({"state"}, "missing", "state is required");
    request.state = std::move(*state);
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
    read_criteria(path / kind_name(*kind), member.value.find("criteria"), question);
    request.questions.push_back(std::move(question));
  }

  void read_criteria(const Path& path, Value* criteria, Question& question) {
    switch (question.kind) {
      case QuestionKind::choice:
        return read_choices(path / "criteria", criteria, question);
      case QuestionKind::score:
        return read_levels(path / "criteria", criteria, question);
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
      return refuse(path / "criteria", "dict_type", "noul criteria must be an object");
    }
    bool described = false;
    for (const char* side : {"false", "true"}) {
      Value description = take(criteria == nullptr ? nullptr : criteria->find(side));
      const bool empty = description.is_string() && description.text.empty();
      described = described || !(description.is_null() || empty);
      question.options.push_back({side, std::move(description)});
    }
    if (question.instructions.is_null() && !described) {
      refuse(path / "instructions", "missing", "a noul needs instructions or criteria");
    }
  }

  const RequestLimits& limits_;
  std::vector<Fault> faults_;
};

}  // namespace

Result<Request> parse_systemone(std::string_view body, const RequestLimits& limits) {
  ADJ_TRY(Value value, json::parse(body, limits.json));
  return Reader(limits).read(std::move(value));
}

}  // namespace adjudge
