// Memories of beginnings that later prompts are likely to share, kept over requests: the least
// recently used go first when the bytes run out. Knows tokens and memories, nothing of what they
// mean. Used by one thread at a time for evaluation; counts may be read and an owner forgotten by
// any.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "backbone/backbone.h"
#include "engine/memory_budget.h"
#include "plan/prompt.h"

namespace adjudge {

struct SnapshotCounts {
  std::uint64_t hits = 0;       // beginnings found
  std::uint64_t misses = 0;     // ... and evaluated because they were not there
  std::uint64_t evictions = 0;  // snapshots let go for want of room
  std::size_t count = 0;        // held now
  std::size_t bytes = 0;
  std::size_t bytes_max = 0;
};

class SnapshotCache {
 public:
  // Whose memories they are: a network in one precision and instruction set. Never used twice.
  using Owner = std::uint64_t;

  // The first `length` tokens of a prompt.
  struct Beginning {
    const Prompt& prompt;
    int length;
  };

  explicit SnapshotCache(MemoryBudget& budget, std::size_t bytes_max = 0)
      : budget_(budget), bytes_max_(bytes_max) {}

  void set_bytes_max(std::size_t bytes_max);
  SnapshotCounts counts() const;

  Owner new_owner();
  void forget(Owner owner);

  // Token counts below `length_max` at which a beginning of the prompt is kept, ascending.
  std::vector<int> kept_lengths(Owner owner, const Prompt& prompt, int length_max) const;
  // The memory at the end of a beginning, or null.
  std::shared_ptr<const Memory> find(Owner owner, const Beginning& beginning);
  void count_hit();
  void count_miss();
  // Keeps a memory if there is room once others are gone, and says whether. One that takes more
  // than half of the cache is not kept, and nothing goes for it. Its parent, at the end of the
  // first `parent_length` tokens, has to be kept already: bytes that nobody counts must not live
  // on.
  bool keep(Owner owner, const Beginning& beginning, std::shared_ptr<const Memory> memory,
            int parent_length, const Memory* parent);

  struct Snapshot {
    Tokens tokens;
    std::vector<int> token_types;
    int parent_length;  // zero: it begins a sequence
    std::shared_ptr<const Memory> memory;
  };
  // Parents before what continues them.
  std::vector<Snapshot> all_of(Owner owner) const;

  // Lets the least recently used go, once; false when nothing is held.
  bool evict_one();

 private:
  struct Entry {
    Owner owner = 0;
    std::uint64_t hash = 0;
    Tokens tokens;
    std::vector<int> token_types;
    std::shared_ptr<const Memory> memory;
    Entry* parent = nullptr;
    int child_count = 0;
    std::size_t bytes = 0;
    MemoryBudget::Lease lease;
  };
  using Place = std::list<Entry>::iterator;

  Place look_up(Owner owner, std::uint64_t hash, const Beginning& beginning) const;
  bool make_room(std::size_t bytes);
  bool evict_least_recent();
  void remove(Place place);

  MemoryBudget& budget_;
  mutable std::mutex mutex_;
  std::size_t bytes_max_;
  Owner last_owner_ = 0;
  SnapshotCounts counts_;
  mutable std::list<Entry> entries_;  // the most recently used first
  std::unordered_multimap<std::uint64_t, Place> by_hash_;
  std::map<std::pair<Owner, int>, int> lengths_;  // how many are kept of each length
};

}  // namespace adjudge
