// What the server counts, as Prometheus reads it. Names that llama-server has too are spelled as
// there (llamacpp:...); the others begin with adjudge_.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "engine/snapshot_cache.h"
#include "serve/decision_handler.h"
#include "serve/models_page.h"

namespace adjudge::serve {

// What is read when somebody looks, instead of being counted.
struct Gauges {
  DecisionQueue::Load queue;
  std::vector<int> loaded;  // places of cards
  SnapshotCounts snapshots;
};

class Metrics {
 public:
  explicit Metrics(std::span<const ModelCard> cards);
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // From any thread.
  void count(const RequestRecord& record);
  void count(const DecisionRecord& record);
  void count_pass(int request_count);
  std::string print(const Gauges& gauges);

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

}  // namespace adjudge::serve
