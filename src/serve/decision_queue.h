// Requests that wait for the network, in turn between clients. What waits together is decided
// together, as one forest; what nobody waits for any more is dropped. Knows no HTTP and no dialect.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "serve/decider.h"
#include "serve/fair_line.h"

namespace adjudge::serve {

struct DecisionQueueOptions {
  // Beyond half a minute of a slow machine's work (2,000 tokens a second) callers have given up.
  int token_count_max = 65536;  // waiting; a single request may be larger
  int request_count_max = 256;  // waiting
  // More company than this would delay the first of a pass more than it saves the last.
  int together_token_count_max = 4096;
  // ... while several clients ask: each waits for the pass that is going on, so a pass should be
  // short. Enough to share the reading of weights, which is what company saves.
  int competing_token_count_max = 256;
  int together_request_count_max = 32;
};

// What the queue tells and asks others, on its own thread. Each may be empty.
struct DecisionQueueHooks {
  // For a pass that found no memory: whether somebody gave some back.
  std::function<bool()> make_room;
  // After each pass, before its callers are told.
  std::function<void(int request_count)> count_pass;
};

struct Decided;

// One call: a request, or several that are answered together.
struct Waiting {
  std::vector<PreparedPtr> parts;  // at least one, all of one decider
  std::string client;              // whose turn it is: a key or an address
  // Part of something that was let in before: never refused for lack of room.
  bool let_in = false;
  std::optional<std::chrono::steady_clock::time_point> deadline;
  std::stop_token gone;  // the caller has left
  // Called once, from any thread; must not wait.
  std::function<void(Decided)> done;
};

struct Decided {
  std::vector<PreparedPtr> parts;
  std::vector<Result<Response>> responses;  // one per part
  double wait_ms = 0;                       // from submission to the beginning of its pass
  int together = 0;                         // requests in that pass
};

class DecisionQueue {
 public:
  explicit DecisionQueue(const DecisionQueueOptions& options, DecisionQueueHooks hooks = {});
  ~DecisionQueue() { close(); }
  DecisionQueue(const DecisionQueue&) = delete;
  DecisionQueue& operator=(const DecisionQueue&) = delete;

  // Refuses at once (overloaded) when full, or when the deadline would pass before there was an
  // answer; `done` is then not called. A client of whom nothing waits is always let in, so that
  // nobody can fill the queue for others.
  Status submit(Waiting waiting);

  // Decides what waits and refuses what comes (unavailable). When it returns, no more `done` is
  // called.
  void close();

  struct Load {
    int request_count = 0;   // waiting
    int token_count = 0;     // waiting
    int deciding_count = 0;  // requests in the pass that is going on
    // Since the beginning.
    std::uint64_t pass_count = 0;
    std::uint64_t decided_count = 0;  // requests in all those passes
  };
  Load load() const;
  // How long what waits now will take at the pace of the last passes.
  std::chrono::seconds expected_wait() const;

 private:
  struct Entry {
    Waiting waiting;
    int token_count = 0;
    std::chrono::steady_clock::time_point since;
  };

  // Where there is no room, those whose callers have left make it; they land in `gone`.
  Status enter(Waiting waiting, std::vector<Entry>& gone);
  void serve(std::stop_token stop);
  // These hold mutex_.
  bool has_room(const std::string& client, int token_count) const;
  bool has_time(const Waiting& waiting, int token_count) const;
  void note_client(const std::string& client);
  int pass_token_count_max() const;
  std::vector<Entry> take_gone();
  std::vector<Entry> take_together();

  void decide(std::vector<Entry> entries);
  // Before its callers are told, so that whoever has an answer finds it counted. Zero requests:
  // nobody had stayed, and there was no pass.
  void end_pass(int decided_count);
  std::vector<Result<Response>> decide_in_room(std::span<const Prepared* const> requests,
                                               const std::stop_token& stop);
  std::vector<Result<Response>> decide_once(std::span<const Prepared* const> requests,
                                            const std::stop_token& stop);
  void record_pace(int token_count, double seconds);

  const DecisionQueueOptions options_;
  const DecisionQueueHooks hooks_;
  mutable std::mutex mutex_;  // of what follows
  std::condition_variable_any arrived_;
  bool closed_ = false;
  FairLine<Entry> line_;
  int waiting_token_count_ = 0;
  int deciding_token_count_ = 0;
  int deciding_request_count_ = 0;
  std::uint64_t pass_count_ = 0;
  std::uint64_t decided_count_ = 0;
  std::optional<double> seconds_per_token_;
  std::string last_client_;
  std::optional<std::chrono::steady_clock::time_point> competed_;  // when clients last changed
  std::jthread thread_;                                            // last: it uses everything above
};

}  // namespace adjudge::serve
