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

}  // namespace

const char* version() { return ADJ_VERSION; }

Status configure_process(const ProcessSettings& settings) {
  return Runtime::process().configure(
      {settings.thread_count, settings.memory_bytes_max, settings.snapshot_bytes_max});
}

DecisionRequest DecisionRequest::from_json(std::string body) {
  DecisionRequest request;
  request.body_ = std::move(body);
  return request;
}

DecisionRequest& DecisionRequest::state(std::string_view text) {
  return state_json(json::quote(text));
}

DecisionRequest& DecisionRequest::state_json(std::string_view json) {
  state_ = json;
  return *this;
}

DecisionRequest& DecisionRequest::choice(std::string_view id, std::string_view instructions,
                                         std::span<const ChoiceOption> options) {
  std::string criteria;
  for (const ChoiceOption& option : options) {
    criteria += (criteria.empty() ? "" : ", ") + json::quote(option.key) + ": " +
                (option.description.empty() ? "null" : json::quote(option.description));
  }
  return add(id, "choice", instructions, "{" + criteria + "}");
}

DecisionRequest& DecisionRequest::choice(std::string_view id, std::string_view instructions,
                                         std::initializer_list<ChoiceOption> options) {
  return choice(id, instructions, std::span(options.begin(), options.size()));
}

DecisionRequest& DecisionRequest::score(std::string_view id, std::string_view instructions,
                                        std::span<const std::string_view> levels) {
  std::string criteria;
  for (const std::string_view level : levels)
    criteria += (criteria.empty() ? "" : ", ") + json::quote(level);
  return add(id, "score", instructions, "[" + criteria + "]");
}

DecisionRequest& DecisionRequest::score(std::string_view id, std::string_view instructions,
                                        std::initializer_list<std::string_view> levels) {
  return score(id, instructions, std::span(levels.begin(), levels.size()));
}

DecisionRequest& DecisionRequest::noul(std::string_view id, std::string_view instructions) {
  return add(id, "noul", instructions, "null");
}

DecisionRequest& DecisionRequest::add(std::string_view id, std::string_view type,
                                      std::string_view instructions, std::string criteria) {
  questions_ +=
      (questions_.empty() ? "" : ", ") + json::quote(id) + ": {\"type\": " + json::quote(type) +
      ", \"instructions\": " + json::quote(instructions) + ", \"criteria\": " + criteria + "}";
  return *this;
}

std::string DecisionRequest::json() const {
  if (!body_.empty()) return body_;
  const std::string state = state_.empty() ? "" : "\"state\": " + state_ + ", ";
  return "{" + state + "\"questions\": {" + questions_ + "}}";
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
    parsed.push_back(parse_systemone(request.json(), {}));
    if (parsed.back().ok()) valid.push_back(parsed.back().value());
  }
  const auto decided =
      decide(*content_->model, valid, {{options.faithful, options.questions_alone}, options.stop});
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
