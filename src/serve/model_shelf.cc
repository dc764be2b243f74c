#include "serve/model_shelf.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/size.h"
#include "protocol/error_body.h"

namespace adjudge::serve {

namespace {

using Clock = std::chrono::steady_clock;

// How often idle models are looked for.
constexpr std::chrono::milliseconds kIdleStep{200};
// Ollama's clients ask for "name:latest".
constexpr std::string_view kLatest = ":latest";

bool lacks_memory(const Result<std::shared_ptr<const Decider>>& loaded) {
  return !loaded.ok() && loaded.error().kind == ErrorKind::unavailable;
}

}  // namespace

ModelShelf::ModelShelf(std::vector<ShelfEntry> entries, const ShelfOptions& options)
    : options_(options) {
  CHECK(!entries.empty());
  for (ShelfEntry& entry : entries) {
    cards_.push_back(std::move(entry.card));
    places_.push_back({.load = std::move(entry.load)});
  }
  places_.front().state = State::wanted;
  thread_ = std::jthread([this](std::stop_token stop) { serve(stop); });
}

ModelShelf::~ModelShelf() { thread_.request_stop(); }

int ModelShelf::place_of(const std::string& model) const {
  // Where there is one model, every name means it: clients come with names of their own.
  if (model.empty() || is_alias(model) || places_.size() == 1) return 0;
  std::string_view name = model;
  if (name.ends_with(kLatest)) name.remove_suffix(kLatest.size());
  const auto found = std::ranges::find(cards_, name, &ModelCard::id);
  return found == cards_.end() ? -1 : static_cast<int>(found - cards_.begin());
}

Result<std::shared_ptr<const Decider>> ModelShelf::find(const std::string& model) {
  std::lock_guard lock(mutex_);
  const int index = place_of(model);
  if (index < 0) {
    return Error{
        ErrorKind::not_supported,
        {{{"model"}, kUnknownModelFault, "no such model here; GET /v1/models lists them"}}};
  }
  Place& place = places_[at(index)];
  place.used = Clock::now();
  if (place.state == State::here) return place.decider;
  if (place.state == State::away) {
    place.state = State::wanted;
    changed_.notify_all();
  }
  if (place.failure) {
    return Error{ErrorKind::unavailable, cards_[at(index)].id + " could not be loaded"};
  }
  return Error{ErrorKind::unavailable, cards_[at(index)].id + " is being loaded"};
}

bool ModelShelf::ready() const {
  std::lock_guard lock(mutex_);
  return first_was_here_;
}

Status ModelShelf::await_first() const {
  std::unique_lock lock(mutex_);
  const Place& first = places_.front();
  changed_.wait(lock, [&] { return first_was_here_ || first.failure; });
  if (!first_was_here_) return *first.failure;
  return Done{};
}

std::vector<int> ModelShelf::loaded() const {
  std::lock_guard lock(mutex_);
  std::vector<int> indices;
  for (int i = 0; i < count_of(places_); ++i) {
    if (places_[at(i)].state == State::here) indices.push_back(i);
  }
  return indices;
}

ModelShelf::Place* ModelShelf::next_wanted() {
  const auto found = std::ranges::find(places_, State::wanted, &Place::state);
  return found == places_.end() ? nullptr : &*found;
}

// Only one that nobody is using gives its memory back.
std::shared_ptr<const Decider> ModelShelf::put_away_oldest() {
  Place* oldest = nullptr;
  for (Place& place : places_) {
    if (place.state != State::here || place.decider.use_count() > 1) continue;
    if (oldest == nullptr || place.used < oldest->used) oldest = &place;
  }
  if (oldest == nullptr) return nullptr;
  oldest->state = State::away;
  return std::exchange(oldest->decider, nullptr);
}

std::vector<std::shared_ptr<const Decider>> ModelShelf::put_away_idle() {
  std::vector<std::shared_ptr<const Decider>> away;
  if (options_.idle_timeout.count() == 0) return away;
  for (Place& place : places_) {
    const bool idle = Clock::now() - place.used >= options_.idle_timeout;
    if (place.state != State::here || place.decider.use_count() > 1 || !idle) continue;
    place.state = State::away;
    away.push_back(std::exchange(place.decider, nullptr));
  }
  return away;
}

void ModelShelf::serve(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    changed_.wait_for(lock, stop, kIdleStep, [&] { return next_wanted() != nullptr; });
    if (Place* place = next_wanted(); place != nullptr && !stop.stop_requested()) {
      load(*place, lock);
    }
    auto idle = put_away_idle();
    lock.unlock();
    idle.clear();  // unmapping takes time; callers should not wait for it
    lock.lock();
  }
}

void ModelShelf::load(Place& place, std::unique_lock<std::mutex>& lock) {
  place.state = State::loading;
  lock.unlock();
  auto loaded = place.load();
  while (lacks_memory(loaded)) {
    lock.lock();
    auto oldest = put_away_oldest();
    lock.unlock();
    if (!oldest) break;
    oldest = nullptr;
    loaded = place.load();
  }
  lock.lock();
  if (loaded.ok()) {
    place.decider = std::move(loaded).value();
    place.state = State::here;
    place.failure.reset();
    place.used = Clock::now();
    first_was_here_ = first_was_here_ || &place == &places_.front();
  } else {
    place.state = State::away;
    place.failure = std::move(loaded).error();
  }
  changed_.notify_all();
}

}  // namespace adjudge::serve
