// The public library over the stages: text in, plain values out.
#include "adjudge/adjudge.h"
#include "base/size.h"
#include "base/try.h"
#include "decide/decide.h"
#include "decide/explain.h"
#include "json/print.h"
#include "protocol/systemone.h"

namespace adjudge {

namespace {

std::vector<std::string> keys_of(const Question& question, std::span<const int> options) {
  std::vector<std::string> keys;
  for (const int i : options) keys.push_back(question.options[at(i)].key);
  return keys;
}

DecisionTruncation public_truncation(const Question& question, const Truncation& truncation) {
  const auto text = [](const CutText& cut) {
    return TruncatedText{cut.token_count, cut.kept_count};
  };
  return {text(truncation.question), text(truncation.state),
          keys_of(question, truncation.options_cut), keys_of(question, truncation.options_alike)};
}

DecisionAnswer public_answer(const Question& question, const Answer& answer) {
  DecisionAnswer out;
  out.id = answer.id;
  out.type = kind_name(answer.kind);
  for (int i = 0; i < count_of(question.options); ++i) {
    out.options.push_back({question.options[at(i)].key, answer.probabilities[at(i)]});
  }
  switch (answer.kind) {
    case QuestionKind::choice:
      out.choice = question.options[at(answer.best)].key;
      break;
    case QuestionKind::score:
      out.score = answer.value;
      break;
    case QuestionKind::noul:
      out.noul = answer.value;
      break;
  }
  out.confidence = answer.confidence;
  out.truncation = public_truncation(question, answer.truncation);
  return out;
}

DecisionResponse public_response(const Request& request, const Response& response) {
  DecisionResponse out;
  out.model = response.model;
  for (int q = 0; q < count_of(request.questions); ++q) {
    out.answers.push_back(public_answer(request.questions[at(q)], response.answers[at(q)]));
  }
  out.input_tokens = response.usage.input_tokens;
  out.json = print_systemone(response, request);
  return out;
}

void set(json::Value& object, std::string_view key, json::Value value) {
  if (json::Value* present = object.find(key)) {
    *present = std::move(value);
  } else {
    object.members.push_back({std::string(key), std::move(value)});
  }
}

}  // namespace

const char* version() { return ADJ_VERSION; }

Status configure_process(const ProcessSettings& settings) {
  return Runtime::process().configure(
      {settings.thread_count, settings.memory_bytes_max, settings.snapshot_bytes_max});
}

struct DecisionRequest::Content {
  json::Value body = json::object({});
  std::optional<Error> unreadable;  // the first JSON that was given and cannot be read

  // Where questions of the caller's own JSON are no object, they stay none, which is refused on
  // submission.
  void add(std::string_view id, QuestionKind kind, std::string_view instructions,
           json::Value criteria) {
    if (body.find("questions") == nullptr) set(body, "questions", json::object({}));
    set(*body.find("questions"), id,
        json::object({{"type", json::string(kind_name(kind))},
                      {"instructions", json::string(instructions)},
                      {"criteria", std::move(criteria)}}));
  }
};

DecisionRequest::DecisionRequest() : content_(std::make_unique<Content>()) {}
DecisionRequest::DecisionRequest(const DecisionRequest& other)
    : content_(std::make_unique<Content>(*other.content_)) {}
DecisionRequest::DecisionRequest(DecisionRequest&&) noexcept = default;
DecisionRequest& DecisionRequest::operator=(DecisionRequest other) noexcept {
  content_.swap(other.content_);
  return *this;
}
DecisionRequest::~DecisionRequest() = default;

DecisionRequest DecisionRequest::from_json(std::string_view body) {
  DecisionRequest request;
  if (Result<json::Value> parsed = json::parse(body); parsed.ok()) {
    request.content_->body = std::move(parsed).value();
  } else {
    request.content_->unreadable = parsed.error();
  }
  return request;
}

DecisionRequest& DecisionRequest::state(std::string_view text) {
  set(content_->body, "state", json::string(text));
  return *this;
}

DecisionRequest& DecisionRequest::state_json(std::string_view json) {
  if (Result<json::Value> parsed = json::parse(json); parsed.ok()) {
    set(content_->body, "state", std::move(parsed).value());
  } else if (!content_->unreadable) {
    content_->unreadable = parsed.error();
    for (Fault& fault : content_->unreadable->faults)
      fault.path.insert(fault.path.begin(), "state");
  }
  return *this;
}

DecisionRequest& DecisionRequest::choice(std::string_view id, std::string_view instructions,
                                         std::span<const ChoiceOption> options) {
  json::Value criteria = json::object({});
  for (const ChoiceOption& option : options) {
    set(criteria, option.key,
        option.description.empty() ? json::null() : json::string(option.description));
  }
  content_->add(id, QuestionKind::choice, instructions, std::move(criteria));
  return *this;
}

DecisionRequest& DecisionRequest::choice(std::string_view id, std::string_view instructions,
                                         std::initializer_list<ChoiceOption> options) {
  return choice(id, instructions, std::span(options.begin(), options.size()));
}

DecisionRequest& DecisionRequest::score(std::string_view id, std::string_view instructions,
                                        std::span<const std::string_view> levels) {
  json::Value criteria = json::array({});
  for (const std::string_view level : levels) criteria.items.push_back(json::string(level));
  content_->add(id, QuestionKind::score, instructions, std::move(criteria));
  return *this;
}

DecisionRequest& DecisionRequest::score(std::string_view id, std::string_view instructions,
                                        std::initializer_list<std::string_view> levels) {
  return score(id, instructions, std::span(levels.begin(), levels.size()));
}

DecisionRequest& DecisionRequest::noul(std::string_view id, std::string_view instructions) {
  content_->add(id, QuestionKind::noul, instructions, json::null());
  return *this;
}

Result<std::string> DecisionRequest::json() const {
  if (content_->unreadable) return *content_->unreadable;
  return json::print(content_->body, json::Flavour::compact);
}

struct DecisionModel::Content {
  std::unique_ptr<Model> model;
};

DecisionModel::DecisionModel(std::unique_ptr<Content> content) : content_(std::move(content)) {}
DecisionModel::DecisionModel(DecisionModel&&) noexcept = default;
DecisionModel& DecisionModel::operator=(DecisionModel&&) noexcept = default;
DecisionModel::~DecisionModel() = default;

Result<DecisionModel> DecisionModel::open(const std::string& path, const ModelSettings& settings) {
  ADJ_TRY(const Precision precision, parse_precision(settings.precision));
  auto content = std::make_unique<Content>();
  ADJ_TRY(content->model, Model::open(path, Runtime::process(),
                                      {settings.family, settings.split, precision, settings.isa}));
  return DecisionModel(std::move(content));
}

const std::string& DecisionModel::name() const { return content_->model->file().name(); }

std::string DecisionModel::describe_json() const {
  return json::print(inspect(content_->model->file()), json::Flavour::py);
}

std::vector<Result<DecisionResponse>> DecisionModel::submit(
    std::span<const DecisionRequest> requests, const SubmitOptions& options) const {
  std::vector<Result<Request>> parsed;
  std::vector<Request> valid;
  for (const DecisionRequest& request : requests) {
    const Result<std::string> body = request.json();
    parsed.push_back(body.ok() ? parse_systemone(body.value(), {}) : body.error());
    if (parsed.back().ok()) valid.push_back(parsed.back().value());
  }
  const auto decided = decide(*content_->model, valid,
                              {{.faithful = options.faithful,
                                .questions_alone = options.questions_alone,
                                .refuse_truncation = options.refuse_truncation},
                               options.stop});
  std::vector<Result<DecisionResponse>> results;
  auto next = decided.begin();
  for (const Result<Request>& request : parsed) {
    if (!request.ok()) {
      results.push_back(request.error());
      continue;
    }
    const Result<Response>& response = *next++;
    if (response.ok()) {
      results.push_back(public_response(request.value(), response.value()));
    } else {
      results.push_back(response.error());
    }
  }
  return results;
}

}  // namespace adjudge
