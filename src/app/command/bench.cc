// adjudge bench: how fast this machine answers with a model, beside what it could do at most.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <iostream>
#include <random>

#include "app/bench_requests.h"
#include "app/command.h"
#include "app/options.h"
#include "app/product_time.h"
#include "base/size.h"
#include "base/try.h"
#include "engine/evaluate.h"
#include "json/print.h"

namespace adjudge::app {

namespace {

using json::Member;
using json::Value;

struct BenchFlags {
  ModelFlags model;
  CompileOptions compile;
  std::vector<int> lengths = {32, 128, 512, 1024};
  std::vector<std::string> cases;
  int rounds = 5;
  std::uint64_t seed = 1;
  bool as_json = false;
};

// One answer of one round.
struct Sample {
  double ms = 0;
  int token_count = 0;      // what the request takes by itself
  int evaluated_count = 0;  // what of that was not kept from before
};

struct Case {
  std::string name;
  std::string about;
  bool is_prefill = false;
  std::function<Result<Sample>(std::uint64_t seed)> run;
  std::vector<Sample> samples;
  std::string refusal;  // of the model, instead of samples
};

double milliseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

// The network alone, over tokens drawn at random.
Result<Sample> run_prefill(const Model& model, int length, std::uint64_t seed) {
  const BackboneTraits& traits = model.file().traits();
  if (length > traits.positions_max) {
    return Error{ErrorKind::bad_request,
                 "the model takes " + std::to_string(traits.positions_max) + " tokens at most"};
  }
  std::mt19937_64 draw(seed);
  Prompt prompt{.wanted = {length - 1}, .causal = traits.causal};
  for (int i = 0; i < length; ++i) {
    prompt.tokens.push_back(static_cast<Token>(draw() % at(traits.vocabulary_count)));
  }
  const Prompt* const prompts[] = {&prompt};
  Status evaluated = Done{};
  auto job = [&] {
    const auto rows = evaluate(model.evaluator(), prompts, {});
    if (!rows.ok()) evaluated = rows.error();
  };
  const auto begin = std::chrono::steady_clock::now();
  model.runtime().run(job);
  const double ms = milliseconds_since(begin);
  ADJ_TRY_DONE(evaluated);
  return Sample{ms, length, length};
}

Result<Sample> run_request(const Model& model, const CompileOptions& compile,
                           const RequestShape& shape, std::uint64_t seed) {
  if (shape.follows_up) {
    const Request before = make_request(shape, seed, true);
    const auto responses = decide(model, std::span(&before, 1), {compile, {}});
    if (!responses[0].ok()) return responses[0].error();
  }
  const Request request = make_request(shape, seed);
  const auto begin = std::chrono::steady_clock::now();
  const auto responses = decide(model, std::span(&request, 1), {compile, {}});
  const double ms = milliseconds_since(begin);
  if (!responses[0].ok()) return responses[0].error();
  const Usage& usage = responses[0].value().usage;
  return Sample{ms, usage.input_tokens, usage.evaluated_tokens};
}

bool is_chosen(const BenchFlags& flags, const std::string& name) {
  return flags.cases.empty() || std::ranges::count(flags.cases, name) > 0;
}

std::vector<Case> make_cases(const Model& model, const BenchFlags& flags) {
  std::vector<Case> cases;
  for (const int length : flags.lengths) {
    if (!is_chosen(flags, "prefill")) break;
    cases.push_back(
        {.name = "prefill-" + std::to_string(length),
         .about = "the network alone",
         .is_prefill = true,
         .run = [&model, length](std::uint64_t seed) { return run_prefill(model, length, seed); }});
  }
  for (const RequestShape& shape : request_shapes()) {
    if (!is_chosen(flags, shape.name)) continue;
    cases.push_back({.name = shape.name, .about = shape.about, .run = [&](std::uint64_t seed) {
                       return run_request(model, flags.compile, shape, seed);
                     }});
  }
  return cases;
}

// Every round runs every case once, so that a slow minute is everybody's. The first only warms up.
void run_rounds(std::vector<Case>& cases, const BenchFlags& flags) {
  std::uint64_t seed = flags.seed;
  for (int round = 0; round <= flags.rounds; ++round) {
    for (Case& each : cases) {
      if (!each.refusal.empty()) continue;
      const Result<Sample> sample = each.run(++seed);
      if (!sample.ok()) each.refusal = sample.error().message();
      if (sample.ok() && round > 0) each.samples.push_back(sample.value());
    }
  }
}

struct Summary {
  Sample median;
  double least_ms = 0;
  double most_ms = 0;
  double tokens_per_second() const { return median.evaluated_count * 1e3 / median.ms; }
};

Summary summarise(std::vector<Sample> samples) {
  std::ranges::sort(samples, {}, &Sample::ms);
  return {samples[samples.size() / 2], samples.front().ms, samples.back().ms};
}

struct Machine {
  const Model& model;
  CeilingRates rates;
  double product_seconds;  // per token, at those rates

  // How much of its time the least time for its products would be; of the network alone, as only
  // there the tokens are known to pass every layer.
  double ceiling_share(const Case& each, const Summary& summary) const {
    return each.is_prefill ? product_seconds * summary.tokens_per_second() : 0;
  }
};

Value describe_case(const Machine& machine, const Case& each) {
  std::vector<Member> members = {{"case", json::string(each.name)}};
  if (!each.refusal.empty()) {
    members.push_back({"refused", json::string(each.refusal)});
    return json::object(std::move(members));
  }
  const Summary summary = summarise(each.samples);
  members.push_back({"tokens", json::integer(summary.median.token_count)});
  members.push_back({"evaluated", json::integer(summary.median.evaluated_count)});
  members.push_back({"median_ms", json::real(summary.median.ms)});
  members.push_back({"least_ms", json::real(summary.least_ms)});
  members.push_back({"most_ms", json::real(summary.most_ms)});
  members.push_back({"tokens_per_second", json::real(summary.tokens_per_second())});
  if (const double share = machine.ceiling_share(each, summary); share > 0) {
    members.push_back({"ceiling_share", json::real(share)});
  }
  return json::object(std::move(members));
}

Value describe_rates(const CeilingRates& rates) {
  return json::object({{"f32", json::real(rates[0] / 1e9)},
                       {"bf16", json::real(rates[1] / 1e9)},
                       {"int8", json::real(rates[2] / 1e9)}});
}

void print_json(const Machine& machine, const std::vector<Case>& cases, int rounds) {
  const Model& model = machine.model;
  std::vector<Value> rows;
  for (const Case& each : cases) rows.push_back(describe_case(machine, each));
  const Value value = json::object({{"model", json::string(model.file().name())},
                                    {"precision", json::string(precision_name(model.precision()))},
                                    {"isa", json::string(model.net().kernels->isa)},
                                    {"threads", json::integer(model.net().pool->thread_count())},
                                    {"rounds", json::integer(rounds)},
                                    {"ceiling_gops", describe_rates(machine.rates)},
                                    {"cases", json::array(std::move(rows))}});
  std::cout << json::print(value, json::Flavour::indent2) << "\n";
}

void print_table(const Machine& machine, const std::vector<Case>& cases, int rounds) {
  const Model& model = machine.model;
  std::printf("%s in %s, %s, %d threads, medians of %d rounds\n", model.file().name().c_str(),
              precision_name(model.precision()), model.net().kernels->isa,
              model.net().pool->thread_count(), rounds);
  std::printf("this machine at most: f32 %.0f, bf16 %.0f, int8 %.0f G/s\n\n",
              machine.rates[0] / 1e9, machine.rates[1] / 1e9, machine.rates[2] / 1e9);
  std::printf("%-14s %7s %9s %10s %18s %9s %11s\n", "case", "tokens", "evaluated", "ms",
              "least to most", "tokens/s", "of ceiling");
  for (const Case& each : cases) {
    if (!each.refusal.empty()) {
      std::printf("%-14s refused: %s\n", each.name.c_str(), each.refusal.c_str());
      continue;
    }
    const Summary summary = summarise(each.samples);
    std::printf("%-14s %7d %9d %10.1f %9.1f %8.1f %9.0f", each.name.c_str(),
                summary.median.token_count, summary.median.evaluated_count, summary.median.ms,
                summary.least_ms, summary.most_ms, summary.tokens_per_second());
    if (const double share = machine.ceiling_share(each, summary); share > 0) {
      std::printf(" %9.0f %%", share * 100);
    }
    std::printf("  %s\n", each.about.c_str());
  }
}

Result<ExitStatus> run_bench(BenchFlags& flags) {
  ADJ_TRY(const std::unique_ptr<Model> model, flags.model.open_model());
  std::vector<Case> cases = make_cases(*model, flags);
  run_rounds(cases, flags);
  const CeilingRates rates = measure_ceilings(*model);
  const Machine machine{*model, rates, product_seconds_per_token(*model, rates)};
  (flags.as_json ? print_json : print_table)(machine, cases, flags.rounds);
  return ExitStatus::success;
}

std::vector<std::string> case_names() {
  std::vector<std::string> names = {"prefill"};
  for (const RequestShape& shape : request_shapes()) names.push_back(shape.name);
  return names;
}

}  // namespace

void add_bench_command(CLI::App& program, Run& chosen) {
  auto flags = std::make_shared<BenchFlags>();
  CLI::App* command = program.add_subcommand(
      "bench", "measure how fast this machine answers, beside what it could do at most");
  flags->model.add_to(*command);
  add_compile_flags(*command, flags->compile);
  command->add_option("--lengths", flags->lengths, "prompt lengths of the case prefill, in tokens")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 20));
  command->add_option("--case", flags->cases, "measure this case only (repeatable)")
      ->check(CLI::IsMember(case_names()));
  command->add_option("--rounds", flags->rounds, "how often every case is measured")
      ->check(CLI::Range(1, 10'000));
  command->add_option("--seed", flags->seed, "which texts are asked about");
  command->add_flag("--json", flags->as_json, "JSON instead of a table");
  run_when_chosen(*command, chosen, [flags] { return run_bench(*flags); });
}

}  // namespace adjudge::app
