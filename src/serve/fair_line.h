// Those who wait, taken in turn between clients: who sends much waits behind itself, not before
// others. The next turn is that of the client whose last one is longest ago, even if nothing of it
// waited meanwhile: whoever asks one thing at a time is not behind a flood each time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace adjudge::serve {

template <class Entry>
class FairLine {
 public:
  bool empty() const { return clients_.empty(); }
  int size() const { return size_; }
  bool holds(const std::string& client) const {
    return std::ranges::any_of(clients_, [&](const Client& own) { return own.name == client; });
  }

  void push(const std::string& client, Entry entry) {
    auto own = std::ranges::find(clients_, client, &Client::name);
    if (own == clients_.end()) {
      const auto last = last_turns_.find(client);
      const std::uint64_t turn = last == last_turns_.end() ? 0 : last->second;
      const auto later = std::ranges::upper_bound(clients_, turn, {}, &Client::last_turn);
      own = clients_.insert(later, Client{client, turn, {}});
    }
    own->entries.push_back(std::move(entry));
    ++size_;
  }

  // The oldest entry of the first client in turn whose oldest entry fits. Who was passed over is
  // first the next time.
  template <class Fits>
  std::optional<Entry> take(const Fits& fits) {
    for (auto own = clients_.begin(); own != clients_.end(); ++own) {
      if (!fits(own->entries.front())) continue;
      Entry entry = std::move(own->entries.front());
      own->entries.pop_front();
      --size_;
      own->last_turn = ++turn_;
      remember(own->name);
      clients_.splice(clients_.end(), clients_, own);
      if (own->entries.empty()) clients_.erase(own);
      return entry;
    }
    return std::nullopt;
  }

  // All entries that are so.
  template <class Is>
  std::vector<Entry> take_all(const Is& is) {
    std::vector<Entry> taken;
    for (Client& own : clients_) {
      const auto first = std::stable_partition(own.entries.begin(), own.entries.end(),
                                               [&](const Entry& entry) { return !is(entry); });
      taken.insert(taken.end(), std::make_move_iterator(first),
                   std::make_move_iterator(own.entries.end()));
      own.entries.erase(first, own.entries.end());
    }
    clients_.remove_if([](const Client& own) { return own.entries.empty(); });
    size_ -= static_cast<int>(taken.size());
    return taken;
  }

 private:
  // Of so many turns. Who comes back later counts as new.
  static constexpr std::size_t kRememberedMax = 1024;

  struct Client {
    std::string name;
    std::uint64_t last_turn = 0;
    std::deque<Entry> entries;  // never empty
  };

  void remember(const std::string& name) {
    last_turns_[name] = turn_;
    if (last_turns_.size() <= 2 * kRememberedMax) return;
    std::erase_if(last_turns_,
                  [&](const auto& last) { return last.second + kRememberedMax <= turn_; });
  }

  std::list<Client> clients_;  // by their last turns, and among equals as they came
  std::unordered_map<std::string, std::uint64_t> last_turns_;
  std::uint64_t turn_ = 0;
  int size_ = 0;
};

}  // namespace adjudge::serve
