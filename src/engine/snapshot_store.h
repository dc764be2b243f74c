// Snapshots on disk, for the next process: written as one file, taken back only where every byte is
// vouched for. Everything of the file is this machine's own (byte order, sizes); the key says for
// whom it is good.
#pragma once

#include <string>

#include "adjudge/result.h"
#include "backbone/backbone.h"
#include "engine/snapshot_cache.h"

namespace adjudge {

struct SnapshotFile {
  std::string path;
  // Names everything a memory's bits depend on: the model file, the precision, the instruction set,
  // the build.
  std::string key;
};

// Writes all snapshots of an owner; the file is the new one whole, or the old one.
Status save_snapshots(const SnapshotFile& file, const SnapshotCache& snapshots,
                      SnapshotCache::Owner owner);

// Takes them into the cache, as far as there is room, and says how many. A file that is not there,
// or is of another key, gives none; a damaged one gives those before the damage.
Result<int> load_snapshots(const SnapshotFile& file, const Backbone& backbone,
                           SnapshotCache& snapshots, SnapshotCache::Owner owner);

}  // namespace adjudge
