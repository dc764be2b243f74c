// The plot. A request goes down as text, tokens, tree and rows, and comes up as logits,
// probabilities and answers.
#include "decide/decide.h"

#include <chrono>

#include "base/size.h"
#include "base/try.h"
#include "decide/fold.h"
#include "engine/evaluate.h"
#include "plan/prefix_forest.h"

namespace adjudge {

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// The requests that compiled, side by side for one forest.
struct Batch {
  std::vector<Result<Compiled>> compiled;  // one per request
  std::vector<int> first_prompt;           // per request, its place in `prompts`
  std::vector<const Prompt*> prompts;
};

Batch compile_all(const ModelFile& file, std::span<const Request> requests,
                  const CompileOptions& options) {
  Batch batch;
  for (const Request& request : requests) {
    batch.compiled.push_back(compile_within_limits(file, request, options));
  }
  for (const Result<Compiled>& compiled : batch.compiled) {
    batch.first_prompt.push_back(count_of(batch.prompts));
    if (!compiled.ok()) continue;
    for (const Prompt& prompt : compiled.value().prompts) batch.prompts.push_back(&prompt);
  }
  return batch;
}

Result<std::vector<Answer>> read_answers(const Model& model, const Request& request,
                                         const Compiled& compiled,
                                         std::span<const HiddenRows> rows) {
  const Calibration& calibration = model.file().compiler().calibration();
  std::vector<Answer> answers;
  for (int q = 0; q < count_of(request.questions); ++q) {
    const QuestionPlan& plan = compiled.questions[at(q)];
    std::vector<std::vector<double>> logits;
    for (const Reading& reading : plan.readings) {
      ADJ_TRY(std::vector<double> read,
              reading.readout->logits(model.net(), rows[at(reading.prompt)]));
      logits.push_back(std::move(read));
    }
    ADJ_TRY(Answer answer, fold(request.questions[at(q)], plan, logits, calibration));
    answers.push_back(std::move(answer));
  }
  return answers;
}

// What a request takes by itself, whatever company it was evaluated in.
Usage usage_of(const Compiled& compiled) {
  std::vector<const Prompt*> prompts;
  for (const Prompt& prompt : compiled.prompts) prompts.push_back(&prompt);
  const PrefixForest alone = build_prefix_forest(prompts);
  return {alone.evaluated_count, alone.prompt_token_count};
}

}  // namespace

Result<Compiled> compile_within_limits(const ModelFile& file, const Request& request,
                                       const CompileOptions& options) {
  CompileOptions limited = options;
  limited.prompt_tokens_max = file.traits().positions_max;
  limited.request_tokens_max = kRequestTokensMax;
  return file.compiler().compile(request, limited);
}

std::vector<Result<Response>> decide(const Model& model, std::span<const Request> requests,
                                     const DecideOptions& options) {
  // Everything that can refuse a request runs before the first token is evaluated.
  const auto compile_begin = Clock::now();
  const Batch batch = compile_all(model.file(), requests, options.compile);
  const PrefixForest forest = build_prefix_forest(batch.prompts);
  const double compile_ms = milliseconds_since(compile_begin);

  std::vector<Result<Response>> responses;
  auto job = [&] {
    const auto evaluate_begin = Clock::now();
    const Result<std::vector<HiddenRows>> rows =
        evaluate(model.backbone(), batch.prompts, forest, model.runtime().memory(), options.stop);
    const double evaluate_ms = milliseconds_since(evaluate_begin);

    const auto respond = [&](int r) -> Result<Response> {
      if (!batch.compiled[at(r)].ok()) return batch.compiled[at(r)].error();
      if (!rows.ok()) return rows.error();
      const Compiled& compiled = batch.compiled[at(r)].value();
      const auto read_begin = Clock::now();
      const auto own_rows =
          std::span(rows.value()).subspan(at(batch.first_prompt[at(r)]), compiled.prompts.size());
      ADJ_TRY(std::vector<Answer> answers,
              read_answers(model, requests[at(r)], compiled, own_rows));
      return Response{model.file().name(), std::move(answers), usage_of(compiled),
                      Timing{compile_ms, evaluate_ms, milliseconds_since(read_begin)}};
    };
    for (int r = 0; r < count_of(requests); ++r) responses.push_back(respond(r));
  };
  model.runtime().run(job);
  return responses;
}

}  // namespace adjudge
