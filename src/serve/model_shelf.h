// Several models behind one port: loaded when asked for, put away when memory is short or nobody
// has asked for long. Knows no files: an entry says how it is loaded.
#pragma once

#include <chrono>
#include <condition_variable>
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
  // May take long, or find no memory (unavailable).
  std::function<Result<std::shared_ptr<const Decider>>()> load;
};

struct ShelfOptions {
  std::chrono::milliseconds idle_timeout{0};  // zero: a model that fits stays
};

class ModelShelf final : public DeciderSource {
 public:
  // At least one; the first is what unnamed requests mean, and is loaded at once.
  ModelShelf(std::vector<ShelfEntry> entries, const ShelfOptions& options);
  ~ModelShelf() override;

  // A name that is not loaded begins to be, whether or not its caller stays.
  Result<std::shared_ptr<const Decider>> find(const std::string& model) override;
  // Whether the first model is there, or was and is put away.
  bool ready() const override;
  // Returns when the first model is there, or with what went wrong.
  Status await_first() const;

  std::span<const ModelCard> cards() const { return cards_; }
  // The cards' places of those that are loaded.
  std::vector<int> loaded() const;

 private:
  enum class State { away, wanted, loading, here };
  struct Place {
    std::function<Result<std::shared_ptr<const Decider>>()> load;
    State state = State::away;
    std::shared_ptr<const Decider> decider;
    std::optional<Error> failure;  // of the last attempt
    std::chrono::steady_clock::time_point used;
  };

  // These hold mutex_.
  int place_of(const std::string& model) const;  // -1: not here
  Place* next_wanted();
  std::shared_ptr<const Decider> put_away_oldest();
  std::vector<std::shared_ptr<const Decider>> put_away_idle();

  void serve(std::stop_token stop);
  void load(Place& place, std::unique_lock<std::mutex>& lock);

  const ShelfOptions options_;
  std::vector<ModelCard> cards_;
  mutable std::mutex mutex_;  // of what follows
  mutable std::condition_variable_any changed_;
  std::vector<Place> places_;
  bool first_was_here_ = false;
  std::jthread thread_;  // last: it uses everything above
};

}  // namespace adjudge::serve
