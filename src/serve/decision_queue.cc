#include "serve/decision_queue.h"

#include <algorithm>
#include <atomic>
#include <climits>
#include <cmath>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/size.h"
#include "engine/runtime.h"

namespace adjudge::serve {

namespace {

using Clock = std::chrono::steady_clock;

// A pace measured long ago says little; one slow pass should not frighten everybody away either.
constexpr double kPaceMemory = 0.8;
// Longer promises are guesses, and clients cap them.
constexpr double kExpectedSecondsMin = 1;
constexpr double kExpectedSecondsMax = 60;
// Who would be answered just in time is often answered just too late, and the work is lost; those
// who come in while there is time to spare are answered well.
constexpr double kTimeToSpare = 2;
// Whoever has been silent for so long is no competitor any more.
constexpr std::chrono::seconds kCompetition{5};

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

// The same answer for every part.
void refuse(Waiting& waiting, const Error& error) {
  std::vector<Result<Response>> responses(waiting.parts.size(), error);
  waiting.done({std::move(waiting.parts), std::move(responses)});
}

void give_up(Waiting& waiting) { refuse(waiting, {ErrorKind::cancelled, "the caller has left"}); }

// Nobody who gave way could make so much room: a smaller request would be answered.
Result<Response> judged(Result<Response> response) {
  if (response.ok() || !never_fits(response.error())) return response;
  return Error{ErrorKind::too_large, response.error().message()};
}

// A model whose file has changed is unavailable too, and room does not help it.
bool lacks_memory(const Decider& decider, const Result<Response>& response) {
  return !response.ok() && response.error().kind == ErrorKind::unavailable && decider.usable();
}

template <class Parts>
int tokens_of(const Parts& parts) {
  int token_count = 0;
  for (const auto& part : parts) token_count += part->token_count;
  return token_count;
}

}  // namespace

DecisionQueue::DecisionQueue(const DecisionQueueOptions& options, DecisionQueueHooks hooks)
    : options_(options),
      hooks_(std::move(hooks)),
      thread_([this](std::stop_token stop) { serve(stop); }) {}

void DecisionQueue::close() {
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
  }
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

Status DecisionQueue::submit(Waiting waiting) {
  std::vector<Entry> gone;
  const Status status = enter(std::move(waiting), gone);
  for (Entry& entry : gone) give_up(entry.waiting);
  return status;
}

Status DecisionQueue::enter(Waiting waiting, std::vector<Entry>& gone) {
  const int token_count = tokens_of(waiting.parts);
  std::lock_guard lock(mutex_);
  if (closed_) return Error{ErrorKind::unavailable, "the server is ending"};
  if (!waiting.let_in) {
    if (!has_room(waiting.client, token_count)) gone = take_gone();
    if (!has_room(waiting.client, token_count)) {
      return Error{ErrorKind::overloaded, std::to_string(line_.size()) + " requests of " +
                                              std::to_string(waiting_token_count_) +
                                              " tokens are waiting already, at most " +
                                              std::to_string(options_.request_count_max) + " and " +
                                              std::to_string(options_.token_count_max)};
    }
  }
  if (!has_time(waiting, token_count)) {
    return Error{ErrorKind::overloaded, "there would be no answer before the deadline"};
  }
  waiting_token_count_ += token_count;
  note_client(waiting.client);
  const std::string client = waiting.client;
  line_.push(client, {std::move(waiting), token_count, Clock::now()});
  arrived_.notify_one();
  return Done{};
}

bool DecisionQueue::has_room(const std::string& client, int token_count) const {
  if (!line_.holds(client)) return true;
  return line_.size() < options_.request_count_max &&
         token_count <= options_.token_count_max - waiting_token_count_;
}

bool DecisionQueue::has_time(const Waiting& waiting, int token_count) const {
  if (!waiting.deadline || waiting.let_in || !line_.holds(waiting.client)) return true;
  const double tokens = waiting_token_count_ + deciding_token_count_ + token_count;
  const double seconds = tokens * seconds_per_token_.value_or(0);
  return kTimeToSpare * seconds <= seconds_between(Clock::now(), *waiting.deadline);
}

void DecisionQueue::note_client(const std::string& client) {
  if (!last_client_.empty() && client != last_client_) competed_ = Clock::now();
  last_client_ = client;
}

int DecisionQueue::pass_token_count_max() const {
  const bool competing = competed_ && Clock::now() - *competed_ < kCompetition;
  const int competing_max = competing ? options_.competing_token_count_max : INT_MAX;
  return std::min(options_.together_token_count_max, competing_max);
}

DecisionQueue::Load DecisionQueue::load() const {
  std::lock_guard lock(mutex_);
  return {line_.size(), waiting_token_count_, deciding_request_count_, pass_count_, decided_count_};
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
    arrived_.wait(lock, stop, [&] { return !line_.empty(); });
    if (line_.empty()) return;  // asked to stop, and nothing is left
    std::vector<Entry> together = take_together();
    lock.unlock();
    decide(std::move(together));
    lock.lock();
  }
}

std::vector<DecisionQueue::Entry> DecisionQueue::take_gone() {
  std::vector<Entry> gone =
      line_.take_all([](const Entry& entry) { return entry.waiting.gone.stop_requested(); });
  for (const Entry& entry : gone) waiting_token_count_ -= entry.token_count;
  return gone;
}

std::vector<DecisionQueue::Entry> DecisionQueue::take_together() {
  std::vector<Entry> together;
  const int token_count_max = pass_token_count_max();
  const auto fits = [&](const Entry& entry) {
    if (together.empty()) return true;
    return entry.token_count <= token_count_max - deciding_token_count_ &&
           entry.waiting.parts.front()->decider == together.front().waiting.parts.front()->decider;
  };
  while (count_of(together) < options_.together_request_count_max) {
    std::optional<Entry> entry = line_.take(fits);
    if (!entry) break;
    waiting_token_count_ -= entry->token_count;
    deciding_token_count_ += entry->token_count;
    deciding_request_count_ += count_of(entry->waiting.parts);
    together.push_back(std::move(*entry));
  }
  return together;
}

void DecisionQueue::decide(std::vector<Entry> entries) {
  const auto begin = Clock::now();
  std::vector<Entry> present;
  std::vector<std::stop_token> members;
  std::vector<const Prepared*> requests;
  for (Entry& entry : entries) {
    if (entry.waiting.gone.stop_requested()) {
      give_up(entry.waiting);
      continue;
    }
    members.push_back(entry.waiting.gone);
    for (const PreparedPtr& part : entry.waiting.parts) requests.push_back(part.get());
    present.push_back(std::move(entry));
  }
  if (present.empty()) return end_pass(0);

  const Audience audience(members);
  const std::shared_ptr<const Decider> decider = requests.front()->decider;
  std::vector<Result<Response>> responses = decide_in_room(requests, audience.all_gone());
  if (hooks_.count_pass) hooks_.count_pass(count_of(requests));
  end_pass(count_of(requests));
  auto next = std::make_move_iterator(responses.begin());
  for (Entry& entry : present) {
    Waiting& waiting = entry.waiting;
    const auto part_count = static_cast<std::ptrdiff_t>(waiting.parts.size());
    std::vector<Result<Response>> own(next, next + part_count);
    next += part_count;
    waiting.done({std::move(waiting.parts), std::move(own),
                  1000 * seconds_between(entry.since, begin), count_of(requests)});
  }
}

void DecisionQueue::end_pass(int decided_count) {
  std::lock_guard lock(mutex_);
  deciding_token_count_ = 0;
  deciding_request_count_ = 0;
  pass_count_ += decided_count > 0 ? 1 : 0;
  decided_count_ += static_cast<std::uint64_t>(decided_count);
}

// Tries again what found no memory, for as long as others make room.
std::vector<Result<Response>> DecisionQueue::decide_in_room(
    std::span<const Prepared* const> requests, const std::stop_token& stop) {
  const Decider& decider = *requests.front()->decider;
  std::vector<Result<Response>> responses = decide_once(requests, stop);
  while (true) {
    std::vector<int> places;
    std::vector<const Prepared*> lacking;
    for (int i = 0; i < count_of(responses); ++i) {
      if (!lacks_memory(decider, responses[at(i)])) continue;
      places.push_back(i);
      lacking.push_back(requests[at(i)]);
    }
    if (lacking.empty() || !hooks_.make_room || !hooks_.make_room()) return responses;
    auto again = decide_once(lacking, stop);
    for (std::size_t i = 0; i < places.size(); ++i) {
      responses[at(places[i])] = std::move(again[i]);
    }
  }
}

std::vector<Result<Response>> DecisionQueue::decide_once(std::span<const Prepared* const> requests,
                                                         const std::stop_token& stop) {
  const auto begin = Clock::now();
  std::vector<Result<Response>> responses = requests.front()->decider->decide(requests, stop);
  CHECK(responses.size() == requests.size());
  for (Result<Response>& response : responses) response = judged(std::move(response));
  // A pass that failed was shorter than what it failed at.
  if (std::ranges::all_of(responses, &Result<Response>::ok)) {
    record_pace(tokens_of(requests), seconds_between(begin, Clock::now()));
  }
  return responses;
}

void DecisionQueue::record_pace(int token_count, double seconds) {
  std::lock_guard lock(mutex_);
  const double pace = seconds / std::max(token_count, 1);
  seconds_per_token_ = kPaceMemory * seconds_per_token_.value_or(pace) + (1 - kPaceMemory) * pace;
}

}  // namespace adjudge::serve
