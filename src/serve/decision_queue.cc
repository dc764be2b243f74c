#include "serve/decision_queue.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/size.h"

namespace adjudge::serve {

namespace {

using Clock = std::chrono::steady_clock;

// A pace measured long ago says little; one slow pass should not frighten everybody away either.
constexpr double kPaceMemory = 0.8;
// Longer promises are guesses, and clients cap them.
constexpr double kExpectedSecondsMin = 1;
constexpr double kExpectedSecondsMax = 60;

double seconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

// Asks the pass to stop when the last of those who wait for it has gone.
class Audience {
 public:
  explicit Audience(const std::vector<std::stop_token>& members) : present_(count_of(members)) {
    for (const std::stop_token& gone : members) leaving_.push_back(watch(gone));
  }
  std::stop_token all_gone() const { return pass_.get_token(); }

 private:
  struct Leave {
    Audience* audience;
    void operator()() const {
      if (--audience->present_ == 0) audience->pass_.request_stop();
    }
  };
  using Callback = std::stop_callback<Leave>;

  std::unique_ptr<Callback> watch(const std::stop_token& gone) {
    return std::make_unique<Callback>(gone, Leave{this});
  }

  std::atomic<int> present_;
  std::stop_source pass_;
  std::vector<std::unique_ptr<Callback>> leaving_;  // last: they use everything above
};

void give_up(Waiting& waiting) {
  waiting.done({std::move(waiting.request), Error{ErrorKind::cancelled, "the caller has left"}});
}

bool lacks_memory(const Result<Response>& response) {
  return !response.ok() && response.error().kind == ErrorKind::unavailable;
}

}  // namespace

DecisionQueue::DecisionQueue(const Decider& decider, const DecisionQueueOptions& options)
    : decider_(decider),
      options_(options),
      thread_([this](std::stop_token stop) { serve(stop); }) {}

DecisionQueue::~DecisionQueue() { thread_.request_stop(); }

Status DecisionQueue::submit(Waiting waiting) {
  std::vector<Entry> gone;
  const Status status = enter(std::move(waiting), gone);
  for (Entry& entry : gone) give_up(entry.waiting);
  return status;
}

Status DecisionQueue::enter(Waiting waiting, std::vector<Entry>& gone) {
  std::lock_guard lock(mutex_);
  if (!has_room(waiting.token_count)) gone = take_gone();
  if (!has_room(waiting.token_count)) {
    return Error{ErrorKind::overloaded, std::to_string(entries_.size()) + " requests of " +
                                            std::to_string(waiting_token_count_) +
                                            " tokens are waiting already, at most " +
                                            std::to_string(options_.request_count_max) + " and " +
                                            std::to_string(options_.token_count_max)};
  }
  waiting_token_count_ += waiting.token_count;
  entries_.push_back({std::move(waiting), Clock::now()});
  arrived_.notify_one();
  return Done{};
}

bool DecisionQueue::has_room(int token_count) const {
  if (entries_.empty()) return true;
  return count_of(entries_) < options_.request_count_max &&
         token_count <= options_.token_count_max - waiting_token_count_;
}

int DecisionQueue::waiting_count() const {
  std::lock_guard lock(mutex_);
  return count_of(entries_);
}

std::chrono::seconds DecisionQueue::expected_wait() const {
  std::lock_guard lock(mutex_);
  const double token_count = waiting_token_count_ + deciding_token_count_;
  const double seconds = std::ceil(token_count * seconds_per_token_.value_or(0));
  return std::chrono::seconds(
      static_cast<int>(std::clamp(seconds, kExpectedSecondsMin, kExpectedSecondsMax)));
}

void DecisionQueue::serve(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  while (true) {
    arrived_.wait(lock, stop, [&] { return !entries_.empty(); });
    if (entries_.empty()) return;  // asked to stop, and nothing is left
    std::vector<Entry> together = take_together();
    lock.unlock();
    decide(std::move(together));
    lock.lock();
    deciding_token_count_ = 0;
  }
}

std::vector<DecisionQueue::Entry> DecisionQueue::take_gone() {
  const auto first_gone = std::stable_partition(
      entries_.begin(), entries_.end(),
      [](const Entry& entry) { return !entry.waiting.gone.stop_requested(); });
  std::vector<Entry> gone(std::make_move_iterator(first_gone),
                          std::make_move_iterator(entries_.end()));
  entries_.erase(first_gone, entries_.end());
  for (const Entry& entry : gone) waiting_token_count_ -= entry.waiting.token_count;
  return gone;
}

std::vector<DecisionQueue::Entry> DecisionQueue::take_together() {
  std::vector<Entry> together;
  while (!entries_.empty() && count_of(together) < options_.together_request_count_max) {
    const int token_count = entries_.front().waiting.token_count;
    const int room = options_.together_token_count_max - deciding_token_count_;
    if (!together.empty() && token_count > room) break;
    waiting_token_count_ -= token_count;
    deciding_token_count_ += token_count;
    together.push_back(std::move(entries_.front()));
    entries_.pop_front();
  }
  return together;
}

void DecisionQueue::decide(std::vector<Entry> entries) {
  const auto begin = Clock::now();
  std::vector<Request> requests;
  std::vector<Entry> present;
  std::vector<std::stop_token> members;
  int token_count = 0;
  for (Entry& entry : entries) {
    Waiting& waiting = entry.waiting;
    if (waiting.gone.stop_requested()) {
      waiting.done(
          {std::move(waiting.request), Error{ErrorKind::cancelled, "the caller has left"}});
      continue;
    }
    token_count += waiting.token_count;
    members.push_back(waiting.gone);
    requests.push_back(std::move(waiting.request));
    present.push_back(std::move(entry));
  }
  if (present.empty()) return;

  const Audience audience(members);
  std::vector<Result<Response>> responses = decider_.decide(requests, audience.all_gone());
  CHECK(responses.size() == requests.size());
  const int together = count_of(present);
  for (int i = 0; i < together; ++i) {
    // Memory that does not hold a whole pass may well hold one request of it.
    if (together > 1 && lacks_memory(responses[at(i)])) {
      responses[at(i)] =
          decider_.decide(std::span(&requests[at(i)], 1), present[at(i)].waiting.gone).front();
    }
    const double wait_ms = 1000 * seconds_between(present[at(i)].since, begin);
    present[at(i)].waiting.done(
        {std::move(requests[at(i)]), std::move(responses[at(i)]), wait_ms, together});
  }
  if (!audience.all_gone().stop_requested()) {
    record_pace(token_count, seconds_between(begin, Clock::now()));
  }
}

void DecisionQueue::record_pace(int token_count, double seconds) {
  std::lock_guard lock(mutex_);
  const double pace = seconds / std::max(token_count, 1);
  seconds_per_token_ = kPaceMemory * seconds_per_token_.value_or(pace) + (1 - kPaceMemory) * pace;
}

}  // namespace adjudge::serve
