// Those who wait, taken in turn between clients: who sends much waits behind itself, not before
// others.
#pragma once

#include <algorithm>
#include <deque>
#include <iterator>
#include <list>
#include <optional>
#include <string>
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
    if (own == clients_.end()) own = clients_.insert(own, Client{client, {}});
    own->entries.push_back(std::move(entry));
    ++size_;
  }

  // The oldest entry of the first client in turn whose oldest entry fits; that client's next turn
  // comes after all others'. Who was passed over is first the next time.
  template <class Fits>
  std::optional<Entry> take(const Fits& fits) {
    for (auto own = clients_.begin(); own != clients_.end(); ++own) {
      if (!fits(own->entries.front())) continue;
      Entry entry = std::move(own->entries.front());
      own->entries.pop_front();
      --size_;
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
  struct Client {
    std::string name;
    std::deque<Entry> entries;  // never empty
  };
  std::list<Client> clients_;  // in the order of their turns
  int size_ = 0;
};

}  // namespace adjudge::serve
