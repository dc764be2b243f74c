// The plot. A request goes down as text, tokens, tree and rows, and comes up as logits,
// probabilities and answers.
#include "decide/decide.h"

#include <chrono>
#include <map>
#include <numeric>

#include "base/size.h"
#include "base/try.h"
#include "decide/fold.h"
#include "engine/evaluate.h"
#include "plan/prefix_forest.h"
#include "readout/label_mass.h"

namespace adjudge {

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

using Logits = std::vector<double>;

// Requests side by side for one forest.
struct Batch {
  std::vector<const Prompt*> prompts;
  std::vector<const Reading*> readings;
  std::vector<int> prompt_of;      // per reading, its place in `prompts`
  std::vector<Wish> label_mass;    // per reading
  std::vector<int> first_reading;  // per request, its place in `readings`
  std::vector<int> first_prompt;   // ... and in `prompts`
};

void add_request(const CompiledRequest& added, Batch& batch) {
  const Compiled& compiled = *added.compiled;
  const int first_prompt = count_of(batch.prompts);
  batch.first_prompt.push_back(first_prompt);
  batch.first_reading.push_back(count_of(batch.readings));
  for (const Prompt& prompt : compiled.prompts) batch.prompts.push_back(&prompt);
  for (const QuestionPlan& plan : compiled.questions) {
    for (const Reading& reading : plan.readings) {
      batch.readings.push_back(&reading);
      batch.prompt_of.push_back(first_prompt + reading.prompt);
      batch.label_mass.push_back(added.request->extras.label_mass);
    }
  }
}

// The logits of all readings; those of one readout in one step, so that they share its products.
Result<std::vector<Logits>> read_logits(const NetContext& net, const Batch& batch,
                                        std::span<const HiddenRows> rows) {
  std::map<const Readout*, std::vector<int>> places;
  for (int i = 0; i < count_of(batch.readings); ++i) {
    places[batch.readings[at(i)]->readout.get()].push_back(i);
  }
  std::vector<Logits> logits(batch.readings.size());
  for (const auto& [readout, own] : places) {
    std::vector<ReadoutInput> inputs;
    for (const int i : own) {
      inputs.push_back({&rows[at(batch.prompt_of[at(i)])], batch.readings[at(i)]->marks});
    }
    ADJ_TRY(std::vector<Logits> read, readout->read(net, inputs));
    CHECK(read.size() == own.size());
    for (std::size_t i = 0; i < own.size(); ++i) logits[at(own[i])] = std::move(read[i]);
  }
  return logits;
}

using LabelMass = std::optional<double>;

// Of the readings whose requests wish for it and whose labels are tokens. A model has one
// vocabulary, so all of them share its product.
std::vector<LabelMass> weigh_labels(const NetContext& net, const Batch& batch,
                                    std::span<const HiddenRows> rows,
                                    std::span<const Logits> logits) {
  std::vector<LabelMass> masses(batch.readings.size());
  const Matrix* vocabulary = nullptr;
  std::vector<int> places;
  std::vector<std::span<const float>> read_rows;
  for (int i = 0; i < count_of(batch.readings); ++i) {
    const Matrix* own = batch.readings[at(i)]->readout->vocabulary();
    if (batch.label_mass[at(i)] == Wish::no || own == nullptr) continue;
    vocabulary = own;
    places.push_back(i);
    read_rows.push_back(rows[at(batch.prompt_of[at(i)])].row(0));
  }
  if (places.empty()) return masses;
  const std::vector<double> sums = vocabulary_log_sums(net, *vocabulary, read_rows);
  for (std::size_t i = 0; i < places.size(); ++i) {
    masses[at(places[i])] = label_mass(logits[at(places[i])], sums[i]);
  }
  return masses;
}

// Nothing where a reading has none.
LabelMass mean_mass(std::span<const LabelMass> masses) {
  double sum = 0;
  for (const LabelMass& mass : masses) {
    if (!mass) return std::nullopt;
    sum += *mass;
  }
  return sum / static_cast<double>(masses.size());
}

// `logits` and `masses` begin with those of the request's readings.
Result<std::vector<Answer>> fold_answers(const Calibration& calibration,
                                         const CompiledRequest& request,
                                         std::span<const Logits> logits,
                                         std::span<const LabelMass> masses) {
  std::vector<Answer> answers;
  for (int q = 0; q < count_of(request.request->questions); ++q) {
    const QuestionPlan& plan = request.compiled->questions[at(q)];
    const std::size_t count = plan.readings.size();
    ADJ_TRY(Answer answer,
            fold(request.request->questions[at(q)], plan, logits.first(count), calibration));
    answer.label_mass = mean_mass(masses.first(count));
    answers.push_back(std::move(answer));
    logits = logits.subspan(count);
    masses = masses.subspan(count);
  }
  return answers;
}

// From the prompts' rows to the logits of all readings.
struct Evaluated {
  std::vector<Logits> logits;
  std::vector<LabelMass> label_masses;
  std::vector<int> evaluated_counts;  // per prompt, see EvaluatedRows
  double evaluate_ms = 0;
  Clock::time_point read_begin;
};

Result<Evaluated> evaluate_and_read(const Model& model, const Batch& batch, std::stop_token stop) {
  Evaluated evaluated;
  const auto evaluate_begin = Clock::now();
  ADJ_TRY(EvaluatedRows rows, evaluate(model.evaluator(), batch.prompts, stop));
  evaluated.evaluated_counts = std::move(rows.evaluated_counts);
  evaluated.evaluate_ms = milliseconds_since(evaluate_begin);
  evaluated.read_begin = Clock::now();
  ADJ_TRY(evaluated.logits, read_logits(model.net(), batch, rows.rows));
  evaluated.label_masses = weigh_labels(model.net(), batch, rows.rows, evaluated.logits);
  return evaluated;
}

// Of a request by itself, whatever company it is evaluated in.
PrefixForest forest_of(const Compiled& compiled) {
  std::vector<const Prompt*> prompts;
  for (const Prompt& prompt : compiled.prompts) prompts.push_back(&prompt);
  return build_prefix_forest(prompts);
}

// What a request takes by itself, and what was evaluated for its prompts.
Usage usage_of(const Compiled& compiled, std::span<const int> evaluated_counts) {
  const PrefixForest alone = forest_of(compiled);
  return {alone.evaluated_count, alone.prompt_token_count,
          std::accumulate(evaluated_counts.begin(), evaluated_counts.end(), 0)};
}

// A caller who asks for what this model has not should not take its absence for anything.
Status check_label_mass(const Request& request, const Compiled& compiled) {
  if (request.extras.label_mass != Wish::required) return Done{};
  for (const QuestionPlan& plan : compiled.questions) {
    for (const Reading& reading : plan.readings) {
      if (reading.readout->vocabulary() != nullptr) continue;
      return Error{ErrorKind::bad_request,
                   {{{"x_label_mass"},
                     "not_supported",
                     "x_label_mass is not offered: this model's labels are not tokens of its "
                     "vocabulary"}}};
    }
  }
  return Done{};
}

// What waits could make room, but not for this.
Status check_memory(const Model& model, const PrefixForest& forest) {
  const std::optional<std::size_t> bytes_max = model.pass_bytes_max();
  if (!bytes_max) return Done{};
  const std::size_t bytes = memory_bytes(model.file().traits(), forest, Reuse::none(forest));
  if (bytes <= *bytes_max) return Done{};
  return Error{ErrorKind::too_large,
               "memory budget: the " + std::to_string(forest.evaluated_count) +
                   " tokens of this request need " + std::to_string(bytes) + " bytes, at most " +
                   std::to_string(*bytes_max) + " can be had beside the model"};
}

}  // namespace

Result<Compiled> compile_within_limits(const ModelFile& file, const Request& request,
                                       const CompileOptions& options) {
  CompileOptions limited = options;
  limited.prompt_tokens_max = file.traits().positions_max;
  limited.request_tokens_max = kRequestTokensMax;
  ADJ_TRY(Compiled compiled, file.compiler().compile(request, limited));
  ADJ_TRY_DONE(check_label_mass(request, compiled));
  return compiled;
}

Result<CountedRequest> compile_and_count(const Model& model, const Request& request,
                                         const CompileOptions& options) {
  ADJ_TRY(Compiled compiled, compile_within_limits(model.file(), request, options));
  const PrefixForest forest = forest_of(compiled);
  ADJ_TRY_DONE(check_memory(model, forest));
  return CountedRequest{std::move(compiled), forest.evaluated_count};
}

namespace {

Error changed_file(const Model& model) {
  return {ErrorKind::unavailable, model.file().name() + ": its file was changed or cut off"};
}

std::vector<Result<Response>> decide_together(const Model& model,
                                              std::span<const CompiledRequest> requests,
                                              std::stop_token stop) {
  Batch batch;
  for (const CompiledRequest& request : requests) add_request(request, batch);
  Result<Evaluated> evaluated = changed_file(model);
  auto job = [&] { evaluated = evaluate_and_read(model, batch, stop); };
  if (model.intact()) model.runtime().run(job);
  // What was computed from a file that changed meanwhile is nobody's answer.
  if (!model.intact()) evaluated = changed_file(model);

  const auto respond = [&](int r) -> Result<Response> {
    if (!evaluated.ok()) return evaluated.error();
    const auto& [logits, masses, evaluated_counts, evaluate_ms, read_begin] = evaluated.value();
    const Compiled& compiled = *requests[at(r)].compiled;
    const std::size_t first_reading = at(batch.first_reading[at(r)]);
    const auto own_counts =
        std::span(evaluated_counts).subspan(at(batch.first_prompt[at(r)]), compiled.prompts.size());
    ADJ_TRY(std::vector<Answer> answers,
            fold_answers(model.file().compiler().calibration(), requests[at(r)],
                         std::span(logits).subspan(first_reading),
                         std::span(masses).subspan(first_reading)));
    Usage usage = usage_of(compiled, own_counts);
    return Response{model.file().name(), std::move(answers), usage,
                    Timing{0, evaluate_ms, milliseconds_since(read_begin)}};
  };
  std::vector<Result<Response>> responses;
  for (int r = 0; r < count_of(requests); ++r) responses.push_back(respond(r));
  return responses;
}

bool lacks_memory(const Result<Response>& response) {
  return !response.ok() && response.error().kind == ErrorKind::unavailable;
}

}  // namespace

std::vector<Result<Response>> decide(const Model& model, std::span<const CompiledRequest> requests,
                                     std::stop_token stop) {
  std::vector<Result<Response>> responses = decide_together(model, requests, stop);
  if (requests.size() == 1) return responses;
  // Memory that does not hold all of them together may well hold each.
  for (int r = 0; r < count_of(requests); ++r) {
    if (!lacks_memory(responses[at(r)])) continue;
    responses[at(r)] = decide_together(model, requests.subspan(at(r), 1), stop).front();
  }
  return responses;
}

std::vector<Result<Response>> decide(const Model& model, std::span<const Request> requests,
                                     const DecideOptions& options) {
  // Everything that can refuse a request runs before the first token is evaluated.
  const auto compile_begin = Clock::now();
  std::vector<Result<Compiled>> compiled;
  for (const Request& request : requests) {
    compiled.push_back(compile_within_limits(model.file(), request, options.compile));
  }
  const double compile_ms = milliseconds_since(compile_begin);
  std::vector<CompiledRequest> right;
  for (int r = 0; r < count_of(requests); ++r) {
    if (compiled[at(r)].ok()) right.push_back({&requests[at(r)], &compiled[at(r)].value()});
  }
  std::vector<Result<Response>> decided = decide(model, right, options.stop);
  auto next = decided.begin();
  std::vector<Result<Response>> responses;
  for (const Result<Compiled>& each : compiled) {
    if (!each.ok()) {
      responses.push_back(each.error());
      continue;
    }
    if (next->ok()) next->value().timing.compile += compile_ms;
    responses.push_back(std::move(*next++));
  }
  return responses;
}

}  // namespace adjudge
