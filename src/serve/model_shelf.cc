#include "serve/model_shelf.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/os/heap.h"
#include "base/size.h"
#include "engine/runtime.h"
#include "protocol/error_body.h"

namespace adjudge::serve {

namespace {

using Clock = std::chrono::steady_clock;

// How often models are looked at: are they idle, has their file changed?
constexpr std::chrono::milliseconds kLookStep{200};

// ... which others could give back.
bool lacks_memory(const Result<std::shared_ptr<const Decider>>& loaded) {
  return !loaded.ok() && loaded.error().kind == ErrorKind::unavailable &&
         !never_fits(loaded.error());
}

}  // namespace

ModelShelf::ModelShelf(std::vector<ShelfEntry> entries, const ShelfOptions& options)
    : options_(options) {
  CHECK(!entries.empty());
  for (ShelfEntry& entry : entries) {
    cards_.push_back(std::move(entry.card));
    const bool expected = entry.pinned || places_.empty();
    places_.push_back({.load = std::move(entry.load),
                       .pinned = entry.pinned,
                       .expected = expected,
                       .state = expected ? State::wanted : State::away});
  }
  thread_ = std::jthread([this](std::stop_token stop) { serve(stop); });
}

ModelShelf::~ModelShelf() { thread_.request_stop(); }

int ModelShelf::place_of(const std::string& model) const {
  const int meant = find_card(cards_, model);
  if (meant >= 0 || places_.size() > 1) return meant;
  return options_.any_name || is_hosted_name(model) ? 0 : -1;
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
  return std::ranges::all_of(places_, [](const Place& place) {
    return !place.expected || (place.was_here && !place.failure);
  });
}

std::optional<Status> ModelShelf::started() const {
  bool all = true;
  for (const Place& place : places_) {
    if (!place.expected || place.was_here) continue;
    if (place.failure) return *place.failure;
    all = false;
  }
  return all ? std::optional<Status>(Done{}) : std::nullopt;
}

std::optional<Status> ModelShelf::await_start(std::chrono::milliseconds timeout) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout, [&] { return started().has_value(); });
  return started();
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
  if (found != places_.end()) return &*found;
  const auto missed = std::ranges::find_if(places_, [&](const Place& place) {
    return place.expected && place.state == State::away && place.failure &&
           Clock::now() - place.tried >= options_.retry_pause;
  });
  return missed == places_.end() ? nullptr : &*missed;
}

// Only one that nobody is using gives its memory back.
std::shared_ptr<const Decider> ModelShelf::put_away_oldest() {
  Place* oldest = nullptr;
  for (Place& place : places_) {
    if (place.state != State::here || place.pinned || place.decider.use_count() > 1) continue;
    if (oldest == nullptr || place.used < oldest->used) oldest = &place;
  }
  if (oldest == nullptr) return nullptr;
  oldest->state = State::away;
  return std::exchange(oldest->decider, nullptr);
}

std::vector<std::shared_ptr<const Decider>> ModelShelf::put_away() {
  std::vector<std::shared_ptr<const Decider>> away;
  for (Place& place : places_) {
    if (place.state != State::here) continue;
    const bool usable = place.decider->usable();
    const bool idle = options_.idle_timeout.count() > 0 && !place.pinned &&
                      Clock::now() - place.used >= options_.idle_timeout;
    if (usable && (!idle || place.decider.use_count() > 1)) continue;
    place.state = State::away;
    away.push_back(std::exchange(place.decider, nullptr));
    if (!usable) place.failure = Error{ErrorKind::unavailable, "its file was changed or cut off"};
    if (!usable) report(place, *place.failure);
  }
  return away;
}

void ModelShelf::serve(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    changed_.wait_for(lock, stop, kLookStep, [&] { return next_wanted() != nullptr; });
    if (Place* place = next_wanted(); place != nullptr && !stop.stop_requested()) {
      load(*place, lock);
    }
    lock.unlock();
    let_idle_leave();
    lock.lock();
  }
}

void ModelShelf::load(Place& place, std::unique_lock<std::mutex>& lock) {
  place.state = State::loading;
  lock.unlock();
  auto loaded = load_in_room(place);
  const Status warm = loaded.ok() && options_.warms_up ? loaded.value()->warm_up() : Status(Done{});
  lock.lock();
  place.tried = Clock::now();
  if (loaded.ok()) {
    place.decider = std::move(loaded).value();
    place.state = State::here;
    place.failure.reset();
    place.used = Clock::now();
    place.was_here = true;
  } else {
    place.state = State::away;
    place.failure = std::move(loaded).error();
  }
  // A model that cannot be warmed up may answer all the same.
  report(place, place.failure ? Status(*place.failure) : warm);
  changed_.notify_all();
}

// Puts others away until there is memory for it.
Result<std::shared_ptr<const Decider>> ModelShelf::load_in_room(const Place& place) {
  std::uint64_t left_seen = await_leaving();  // it may be this one, still saving what it kept
  auto loaded = place.load();
  while (lacks_memory(loaded) && make_room(left_seen)) loaded = place.load();
  return loaded;
}

bool ModelShelf::make_room(std::uint64_t& left_seen) {
  std::lock_guard leaving(leaving_);
  if (left_seen == left_count_) {
    std::unique_lock lock(mutex_);
    std::shared_ptr<const Decider> oldest = put_away_oldest();
    lock.unlock();
    if (oldest == nullptr) return false;
    oldest = nullptr;
    give_back_freed_memory();
    ++left_count_;
  }
  left_seen = left_count_;
  return true;
}

void ModelShelf::let_idle_leave() {
  std::lock_guard leaving(leaving_);
  std::unique_lock lock(mutex_);
  auto away = put_away();
  lock.unlock();
  if (away.empty()) return;
  left_count_ += away.size();
  away.clear();
  give_back_freed_memory();
}

std::uint64_t ModelShelf::await_leaving() {
  std::lock_guard leaving(leaving_);
  return left_count_;
}

void ModelShelf::report(const Place& place, const Status& status) const {
  if (!options_.report) return;
  options_.report(cards_[static_cast<std::size_t>(&place - places_.data())].id, status);
}

}  // namespace adjudge::serve
