#include "serve/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "base/size.h"

namespace adjudge::serve {

namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;
using prometheus::Registry;

// From a health check to a long pass.
const Histogram::BucketBoundaries kSeconds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                              0.25,  0.5,    1,     2.5,  5,     10,   30};
const Histogram::BucketBoundaries kTogether = {1, 2, 4, 8, 16, 32, 64};

Family<Counter>& counters(Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

Family<Gauge>& gauges(Registry& registry, const char* name, const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
}

Histogram& histogram(Registry& registry, const char* name, const char* help,
                     const Histogram::BucketBoundaries& bounds) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry).Add({}, bounds);
}

// Zero where nothing has happened yet.
double ratio(double amount, double by) { return by > 0 ? amount / by : 0; }

}  // namespace

struct Metrics::Content {
  Registry registry;
  Family<Counter>& requests = counters(registry, "adjudge_http_requests_total",
                                       "Answers, by route and status (499: the caller left)");
  Histogram& seconds = histogram(registry, "adjudge_http_request_duration_seconds",
                                 "From a request's first byte to its answer", kSeconds);
  Family<Counter>& decisions =
      counters(registry, "adjudge_decisions_total", "Requests that reached the queue, by outcome");
  Family<Counter>& questions =
      counters(registry, "adjudge_questions_total", "Questions answered, by kind");
  Counter& truncated =
      counters(registry, "adjudge_truncated_total", "Answers to more than the model read").Add({});
  Counter& evaluated =
      counters(registry, "llamacpp:prompt_tokens_total", "Prompt tokens evaluated").Add({});
  Counter& reused =
      counters(registry, "llamacpp:prompt_tokens_cached_total",
               "Prompt tokens shared with another prompt, or kept from an earlier request")
          .Add({});
  Counter& evaluate_seconds =
      counters(registry, "llamacpp:prompt_seconds_total", "Time spent evaluating").Add({});
  Counter& refused = counters(registry, "llamacpp:decision_requests_refused_total",
                              "Requests refused because the queue was full")
                         .Add({});
  Histogram& waited = histogram(registry, "adjudge_queue_wait_seconds",
                                "From admission to the beginning of the pass", kSeconds);
  Histogram& together = histogram(registry, "adjudge_pass_requests",
                                  "Passes, by how many requests were in each", kTogether);
  Gauge& waiting =
      gauges(registry, "llamacpp:requests_deferred", "Requests that wait for a pass").Add({});
  Gauge& deciding =
      gauges(registry, "llamacpp:requests_processing", "Requests in the pass that is going on")
          .Add({});
  Counter& passes =
      counters(registry, "llamacpp:n_decode_total", "Passes, each of one request or more").Add({});
  Gauge& requests_a_pass =
      gauges(registry, "llamacpp:n_busy_slots_per_decode", "Requests in a pass, on average")
          .Add({});
  Gauge& pace = gauges(registry, "llamacpp:prompt_tokens_seconds",
                       "Prompt tokens evaluated in a second, on average")
                    .Add({});
  Gauge& waiting_tokens =
      gauges(registry, "adjudge_queue_tokens", "Tokens of the requests that wait").Add({});
  Family<Gauge>& loaded = gauges(registry, "adjudge_model_loaded", "Whether a model is in memory");
  Counter& snapshot_hits = counters(registry, "adjudge_snapshot_hits_total",
                                    "Beginnings of prompts found kept from earlier requests")
                               .Add({});
  Counter& snapshot_misses = counters(registry, "adjudge_snapshot_misses_total",
                                      "Beginnings worth keeping that had to be evaluated")
                                 .Add({});
  Counter& snapshot_evictions = counters(registry, "adjudge_snapshot_evictions_total",
                                         "Kept beginnings let go for want of room")
                                    .Add({});
  Gauge& snapshot_count =
      gauges(registry, "adjudge_snapshots", "Beginnings of prompts kept now").Add({});
  Gauge& snapshot_bytes = gauges(registry, "adjudge_snapshot_bytes", "What they take").Add({});
  Gauge& snapshot_bytes_max =
      gauges(registry, "adjudge_snapshot_bytes_max", "What they may take").Add({});
  std::vector<std::string> names;

  static void raise(Counter& counter, std::uint64_t value) {
    counter.Increment(static_cast<double>(value) - counter.Value());
  }

  void show(const DecisionQueue::Load& load) {
    waiting.Set(load.request_count);
    waiting_tokens.Set(load.token_count);
    deciding.Set(load.deciding_count);
    raise(passes, load.pass_count);
    requests_a_pass.Set(ratio(static_cast<double>(load.decided_count), passes.Value()));
    pace.Set(ratio(evaluated.Value(), evaluate_seconds.Value()));
  }

  void show(const SnapshotCounts& counts) {
    raise(snapshot_hits, counts.hits);
    raise(snapshot_misses, counts.misses);
    raise(snapshot_evictions, counts.evictions);
    snapshot_count.Set(static_cast<double>(counts.count));
    snapshot_bytes.Set(static_cast<double>(counts.bytes));
    snapshot_bytes_max.Set(static_cast<double>(counts.bytes_max));
  }
};

Metrics::Metrics(std::span<const ModelCard> cards) : content_(std::make_unique<Content>()) {
  auto& info = gauges(content_->registry, "adjudge_model_info", "The models and what they are");
  for (const ModelCard& card : cards) {
    content_->names.push_back(card.id);
    info.Add({{"model", card.id},
              {"family", card.family},
              {"backbone", card.backbone},
              {"precision", card.precision},
              {"fingerprint", card.fingerprint}})
        .Set(1);
  }
}

Metrics::~Metrics() = default;

void Metrics::count(const RequestRecord& record) {
  const std::string route = record.route.empty() ? "other" : record.route;
  content_->requests.Add({{"route", route}, {"status", std::to_string(record.status)}}).Increment();
  content_->seconds.Observe(record.ms / 1000);
  if (record.status == 429) content_->refused.Increment();
}

void Metrics::count(const DecisionRecord& record) {
  const char* outcome = "answered";
  if (!record.response.ok()) {
    outcome = record.response.error().kind == ErrorKind::cancelled ? "cancelled" : "failed";
  }
  content_->decisions.Add({{"outcome", outcome}}).Increment();
  content_->waited.Observe(record.wait_ms / 1000);
  if (!record.response.ok()) return;
  const Response& response = record.response.value();
  for (const Answer& answer : response.answers) {
    content_->questions.Add({{"kind", kind_name(answer.kind)}}).Increment();
    content_->truncated.Increment(answer.truncation.any() ? 1 : 0);
  }
  content_->evaluated.Increment(response.usage.evaluated_tokens);
  content_->reused.Increment(response.usage.prompt_tokens - response.usage.evaluated_tokens);
  // The pass's time, in equal parts to those who were in it.
  content_->evaluate_seconds.Increment(response.timing.evaluate / 1000 / record.together);
}

void Metrics::count_pass(int request_count) { content_->together.Observe(request_count); }

std::string Metrics::print(const Gauges& now) {
  content_->show(now.queue);
  content_->show(now.snapshots);
  for (const std::string& name : content_->names) content_->loaded.Add({{"model", name}}).Set(0);
  for (const int index : now.loaded) {
    content_->loaded.Add({{"model", content_->names[at(index)]}}).Set(1);
  }
  return prometheus::TextSerializer().Serialize(content_->registry.Collect());
}

}  // namespace adjudge::serve
