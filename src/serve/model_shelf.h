// Several models behind one port: loaded when asked for, put away when memory is short, nobody has
// asked for long, or their file has changed. Knows no files: an entry says how it is loaded.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "serve/decider_source.h"
#include "serve/models_page.h"

namespace adjudge::serve {

struct ShelfEntry {
  ModelCard card;
  // May take long, or find no memory (unavailable; kNeverFitsFault: whoever gives way).
  std::function<Result<std::shared_ptr<const Decider>>()> load;
  bool pinned = false;  // loaded at once, and never put away for others or for being idle
};

struct ShelfOptions {
  bool any_name = false;                         // where there is one model, every name means it
  std::chrono::milliseconds idle_timeout{0};     // zero: a model that fits stays
  bool warms_up = false;                         // every model, before the first request has it
  std::chrono::milliseconds retry_pause{5'000};  // of what should be there and cannot be loaded
  // What has come, or why not; from the loading thread. May be empty.
  std::function<void(const std::string& id, const Status& status)> report;
};

class ModelShelf final : public DeciderSource {
 public:
  // At least one; the first is what unnamed requests mean. It and those that are pinned are loaded
  // at once: they are expected to be there.
  ModelShelf(std::vector<ShelfEntry> entries, const ShelfOptions& options);
  ~ModelShelf() override;

  // A name that is not loaded begins to be, whether or not its caller stays. Where there is one
  // model, names that hosted services have mean it too.
  Result<std::shared_ptr<const Decider>> find(const std::string& model) override;
  // Whether every expected model is there, or was and can be had again.
  bool ready() const override;
  // Puts the least recently used model away that nobody is using, unless somebody has left since
  // `left_seen` of the caller's last attempt; false when neither has made room.
  bool make_room(std::uint64_t& left_seen);
  // Success when all expected models are there, or what went wrong with one; nothing when neither
  // has happened for so long.
  std::optional<Status> await_start(std::chrono::milliseconds timeout) const;

  std::span<const ModelCard> cards() const { return cards_; }
  // The cards' places of those that are loaded.
  std::vector<int> loaded() const;

 private:
  enum class State { away, wanted, loading, here };
  struct Place {
    std::function<Result<std::shared_ptr<const Decider>>()> load;
    bool pinned = false;
    bool expected = false;
    bool was_here = false;
    State state = State::away;
    std::shared_ptr<const Decider> decider;
    std::optional<Error> failure;  // of the last attempt
    std::chrono::steady_clock::time_point used;
    std::chrono::steady_clock::time_point tried;
  };

  // These hold mutex_.
  int place_of(const std::string& model) const;  // -1: not here
  Place* next_wanted();
  std::shared_ptr<const Decider> put_away_oldest();
  // Of what is idle or not usable any more.
  std::vector<std::shared_ptr<const Decider>> put_away();
  std::optional<Status> started() const;

  // These must not hold it: saving and unmapping take time, and callers should not wait for it.
  void let_idle_leave();
  std::uint64_t await_leaving();  // how many have left
  void serve(std::stop_token stop);
  void load(Place& place, std::unique_lock<std::mutex>& lock);
  Result<std::shared_ptr<const Decider>> load_in_room(const Place& place);
  void report(const Place& place, const Status& status) const;

  const ShelfOptions options_;
  std::vector<ModelCard> cards_;
  // Held while models leave, until their memory is given back: a load or an attempt to make room
  // waits for it, or would find less than there is. Locked before mutex_.
  std::mutex leaving_;
  std::uint64_t left_count_ = 0;  // of those, since the beginning
  mutable std::mutex mutex_;      // of what follows
  mutable std::condition_variable_any changed_;
  std::vector<Place> places_;
  std::jthread thread_;  // last: it uses everything above
};

}  // namespace adjudge::serve
