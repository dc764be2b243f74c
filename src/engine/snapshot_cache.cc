#include "engine/snapshot_cache.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "base/size.h"

namespace adjudge {

namespace {

constexpr std::uint64_t kHashBegin = 0xCBF29CE484222325u;

// The cache over this is the most that one entry takes: a very long prompt would otherwise take
// everybody else's beginnings away, and the next such prompt would do it again.
constexpr std::size_t kLargestEntryDivisor = 2;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
  return hash ^ (hash >> 29);
}

// The hash of a prompt's beginning that grows token by token.
class RunningHash {
 public:
  RunningHash(SnapshotCache::Owner owner, const Prompt& prompt)
      : prompt_(prompt), hash_(mixed(kHashBegin, owner)) {}

  std::uint64_t up_to(int length) {
    for (; length_ < length; ++length_) {
      hash_ = mixed(hash_, static_cast<std::uint32_t>(prompt_.tokens[at(length_)]));
      if (!prompt_.token_types.empty()) {
        hash_ = mixed(hash_, static_cast<std::uint32_t>(prompt_.token_types[at(length_)]));
      }
    }
    return hash_;
  }

 private:
  const Prompt& prompt_;
  std::uint64_t hash_;
  int length_ = 0;
};

template <class T>
std::vector<T> beginning_of(const std::vector<T>& all, int length) {
  if (all.empty()) return {};
  return {all.begin(), all.begin() + length};
}

template <class T>
bool begins_with(const std::vector<T>& all, const std::vector<T>& beginning) {
  return all.size() >= beginning.size() &&
         std::equal(beginning.begin(), beginning.end(), all.begin());
}

}  // namespace

void SnapshotCache::set_bytes_max(std::size_t bytes_max) {
  std::lock_guard lock(mutex_);
  bytes_max_ = bytes_max;
  while (counts_.bytes > bytes_max_ && evict_least_recent()) {
  }
}

SnapshotCounts SnapshotCache::counts() const {
  std::lock_guard lock(mutex_);
  SnapshotCounts counts = counts_;
  counts.count = entries_.size();
  counts.bytes_max = bytes_max_;
  return counts;
}

SnapshotCache::Owner SnapshotCache::new_owner() {
  std::lock_guard lock(mutex_);
  return ++last_owner_;
}

void SnapshotCache::forget(Owner owner) {
  std::lock_guard lock(mutex_);
  for (Entry& entry : entries_) {
    if (entry.owner == owner) entry.parent = nullptr;  // parents may go before their children here
  }
  for (Place place = entries_.begin(); place != entries_.end();) {
    const Place next = std::next(place);
    if (place->owner == owner) remove(place);
    place = next;
  }
}

std::vector<int> SnapshotCache::kept_lengths(Owner owner, const Prompt& prompt,
                                             int length_max) const {
  std::lock_guard lock(mutex_);
  std::vector<int> found;
  RunningHash hash(owner, prompt);
  const int end = std::min(length_max, count_of(prompt.tokens) + 1);
  for (auto next = lengths_.lower_bound({owner, 0}); next != lengths_.end(); ++next) {
    const auto [kept_owner, length] = next->first;
    if (kept_owner != owner || length >= end) break;
    if (look_up(owner, hash.up_to(length), {prompt, length}) != entries_.end()) {
      found.push_back(length);
    }
  }
  return found;
}

std::shared_ptr<const Memory> SnapshotCache::find(Owner owner, const Beginning& beginning) {
  std::lock_guard lock(mutex_);
  const std::uint64_t hash = RunningHash(owner, beginning.prompt).up_to(beginning.length);
  const Place place = look_up(owner, hash, beginning);
  if (place == entries_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, place);
  return place->memory;
}

void SnapshotCache::count_hit() {
  std::lock_guard lock(mutex_);
  ++counts_.hits;
}

void SnapshotCache::count_miss() {
  std::lock_guard lock(mutex_);
  ++counts_.misses;
}

bool SnapshotCache::keep(Owner owner, const Beginning& beginning,
                         std::shared_ptr<const Memory> memory, int parent_length,
                         const Memory* parent) {
  std::lock_guard lock(mutex_);
  RunningHash hash(owner, beginning.prompt);
  Entry* parent_entry = nullptr;
  if (parent != nullptr) {
    const Place found =
        look_up(owner, hash.up_to(parent_length), {beginning.prompt, parent_length});
    if (found == entries_.end() || found->memory.get() != parent) return false;
    parent_entry = &*found;
    ++parent_entry->child_count;  // from here on it is not evicted
  }
  Entry entry;
  entry.owner = owner;
  entry.hash = hash.up_to(beginning.length);
  entry.tokens = beginning_of(beginning.prompt.tokens, beginning.length);
  entry.token_types = beginning_of(beginning.prompt.token_types, beginning.length);
  entry.bytes = memory->bytes() + entry.tokens.size() * sizeof(Token) +
                entry.token_types.size() * sizeof(int) + sizeof(Entry);
  entry.memory = std::move(memory);
  entry.parent = parent_entry;
  const bool known = look_up(owner, entry.hash, beginning) != entries_.end();
  std::optional<MemoryBudget::Lease> lease;
  if (!known && make_room(entry.bytes)) {
    while (!(lease = budget_.take(entry.bytes)) && evict_least_recent()) {
    }
  }
  if (!lease) {
    if (parent_entry != nullptr) --parent_entry->child_count;
    return false;
  }
  entry.lease = std::move(*lease);
  counts_.bytes += entry.bytes;
  ++lengths_[{owner, beginning.length}];
  const std::uint64_t place_hash = entry.hash;
  entries_.push_front(std::move(entry));
  by_hash_.emplace(place_hash, entries_.begin());
  return true;
}

std::vector<SnapshotCache::Snapshot> SnapshotCache::all_of(Owner owner) const {
  std::lock_guard lock(mutex_);
  std::vector<Snapshot> snapshots;
  for (const Entry& entry : entries_) {
    if (entry.owner != owner) continue;
    const int parent_length = entry.parent == nullptr ? 0 : count_of(entry.parent->tokens);
    snapshots.push_back({entry.tokens, entry.token_types, parent_length, entry.memory});
  }
  std::ranges::sort(snapshots, {}, [](const Snapshot& snapshot) { return snapshot.tokens.size(); });
  return snapshots;
}

bool SnapshotCache::evict_one() {
  std::lock_guard lock(mutex_);
  return evict_least_recent();
}

SnapshotCache::Place SnapshotCache::look_up(Owner owner, std::uint64_t hash,
                                            const Beginning& beginning) const {
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto next = first; next != last; ++next) {
    const Entry& entry = *next->second;
    if (entry.owner == owner && count_of(entry.tokens) == beginning.length &&
        begins_with(beginning.prompt.tokens, entry.tokens) &&
        entry.token_types.empty() == beginning.prompt.token_types.empty() &&
        begins_with(beginning.prompt.token_types, entry.token_types)) {
      return next->second;
    }
  }
  return entries_.end();
}

bool SnapshotCache::make_room(std::size_t bytes) {
  if (bytes > bytes_max_ / kLargestEntryDivisor) return false;
  while (counts_.bytes > bytes_max_ - bytes) {
    if (!evict_least_recent()) return false;
  }
  return true;
}

// Of those nobody continues: what a kept memory continues lives as long as it does, and is used
// whenever it is.
bool SnapshotCache::evict_least_recent() {
  for (auto next = entries_.rbegin(); next != entries_.rend(); ++next) {
    if (next->child_count > 0) continue;
    ++counts_.evictions;
    remove(std::prev(next.base()));
    return true;
  }
  return false;
}

void SnapshotCache::remove(Place place) {
  counts_.bytes -= place->bytes;
  const auto length = lengths_.find({place->owner, count_of(place->tokens)});
  if (--length->second == 0) lengths_.erase(length);
  const auto [first, last] = by_hash_.equal_range(place->hash);
  by_hash_.erase(std::find_if(first, last, [&](const auto& each) { return each.second == place; }));
  if (place->parent != nullptr) --place->parent->child_count;
  entries_.erase(place);
}

}  // namespace adjudge
