#include "engine/snapshot_store.h"

#include <xxhash.h>

#include <cstring>
#include <filesystem>

#include "base/os/mapped_file.h"
#include "base/os/part_file.h"
#include "base/size.h"
#include "base/try.h"

namespace adjudge {

namespace {

using Bytes = std::span<const std::byte>;

// The file: kMagic, the key's length and text, then snapshots, parents first, each a head and what
// the head counts: tokens, token types, contents.
constexpr char kMagic[8] = {'A', 'D', 'J', 'S', 'N', 'A', 'P', '1'};

struct Head {
  std::uint64_t hash = 0;  // of everything of the snapshot after this number
  std::uint64_t content_bytes = 0;
  std::int32_t token_count = 0;
  std::int32_t type_count = 0;  // none, or one per token
  std::int32_t parent_length = 0;
  std::int32_t zero = 0;
};
static_assert(sizeof(Head) == 32);

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

Bytes bytes_after_hash(const Head& head) {
  return std::as_bytes(std::span(&head, 1)).subspan(sizeof head.hash);
}

// Every part is hashed with the hash of those before it.
std::uint64_t hash_of(std::span<const Bytes> parts) {
  std::uint64_t hash = 0;
  for (const Bytes& part : parts) {
    hash = XXH3_64bits_withSeed(part.data(), part.size(), hash + part.size());
  }
  return hash;
}

std::vector<std::byte> joined(std::span<const Bytes> parts) {
  std::vector<std::byte> whole;
  for (const Bytes& part : parts) whole.insert(whole.end(), part.begin(), part.end());
  return whole;
}

Status append(PartFile& file, const SnapshotCache::Snapshot& snapshot) {
  const std::vector<std::byte> contents = joined(snapshot.memory->contents());
  Head head{.content_bytes = contents.size(),
            .token_count = count_of(snapshot.tokens),
            .type_count = count_of(snapshot.token_types),
            .parent_length = snapshot.parent_length};
  const Bytes parts[] = {bytes_after_hash(head), bytes_of(snapshot.tokens),
                         bytes_of(snapshot.token_types), contents};
  head.hash = hash_of(parts);
  ADJ_TRY_DONE(file.append(std::as_bytes(std::span(&head.hash, 1))));
  for (const Bytes& part : parts) ADJ_TRY_DONE(file.append(part));
  return Done{};
}

// What is left of a mapped file.
class Reader {
 public:
  explicit Reader(Bytes bytes) : rest_(bytes) {}

  // Nothing when less is left.
  std::optional<Bytes> take(std::size_t count) {
    if (count > rest_.size()) return std::nullopt;
    const Bytes taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }

  template <class T>
  bool read(T& value) {
    const auto taken = take(sizeof value);
    if (taken) std::memcpy(&value, taken->data(), sizeof value);
    return taken.has_value();
  }

  template <class T>
  bool read(std::vector<T>& values, int count) {
    const auto taken = take(at(count) * sizeof(T));
    if (!taken) return false;
    values.resize(at(count));
    if (count > 0) std::memcpy(values.data(), taken->data(), taken->size());
    return true;
  }

 private:
  Bytes rest_;
};

bool begins_with_key(Reader& reader, const std::string& key) {
  const auto magic = reader.take(sizeof kMagic);
  std::uint64_t length = 0;
  if (!magic || std::memcmp(magic->data(), kMagic, sizeof kMagic) != 0) return false;
  if (!reader.read(length) || length != key.size()) return false;
  const auto text = reader.take(key.size());
  return text && std::memcmp(text->data(), key.data(), key.size()) == 0;
}

// A snapshot as it stands in the file.
struct Stored {
  Prompt prompt;  // its tokens alone
  int parent_length = 0;
  Bytes contents;
};

std::optional<Stored> read_stored(Reader& reader) {
  Head head;
  if (!reader.read(head)) return std::nullopt;
  const bool typed = head.type_count == head.token_count;
  if (head.token_count <= 0 || !(typed || head.type_count == 0) || head.parent_length < 0 ||
      head.parent_length >= head.token_count) {
    return std::nullopt;
  }
  Stored stored{.parent_length = head.parent_length};
  if (!reader.read(stored.prompt.tokens, head.token_count) ||
      !reader.read(stored.prompt.token_types, head.type_count)) {
    return std::nullopt;
  }
  const auto contents = reader.take(head.content_bytes);
  if (!contents) return std::nullopt;
  stored.contents = *contents;
  const Bytes parts[] = {bytes_after_hash(head), bytes_of(stored.prompt.tokens),
                         bytes_of(stored.prompt.token_types), stored.contents};
  if (hash_of(parts) != head.hash) return std::nullopt;
  return stored;
}

// Whether it is in the cache now.
bool take_in(const Stored& stored, const Backbone& backbone, SnapshotCache& snapshots,
             SnapshotCache::Owner owner) {
  const Prompt& prompt = stored.prompt;
  std::shared_ptr<const Memory> parent;
  if (stored.parent_length > 0) {
    parent = snapshots.find(owner, {prompt, stored.parent_length});
    if (parent == nullptr) return false;
  }
  const int length = count_of(prompt.tokens);
  std::shared_ptr<Memory> memory =
      backbone.begin({parent, length - stored.parent_length, /*continued=*/true});
  if (!memory->fill(stored.contents)) return false;
  return snapshots.keep(owner, {prompt, length}, memory, stored.parent_length, parent.get());
}

}  // namespace

Status save_snapshots(const SnapshotFile& file, const SnapshotCache& snapshots,
                      SnapshotCache::Owner owner) {
  ADJ_TRY(PartFile part, PartFile::open(file.path + ".part", /*is_private=*/true));
  ADJ_TRY_DONE(part.cut(0));  // of a process that did not finish
  const std::uint64_t key_bytes = file.key.size();
  ADJ_TRY_DONE(part.append(std::as_bytes(std::span(kMagic))));
  ADJ_TRY_DONE(part.append(std::as_bytes(std::span(&key_bytes, 1))));
  ADJ_TRY_DONE(part.append(std::as_bytes(std::span(file.key))));
  for (const SnapshotCache::Snapshot& snapshot : snapshots.all_of(owner)) {
    ADJ_TRY_DONE(append(part, snapshot));
  }
  return part.publish(file.path);
}

Result<int> load_snapshots(const SnapshotFile& file, const Backbone& backbone,
                           SnapshotCache& snapshots, SnapshotCache::Owner owner) {
  std::error_code unknown;
  if (!std::filesystem::exists(file.path, unknown)) return 0;
  ADJ_TRY(const MappedFile mapped, MappedFile::open(file.path));
  Reader reader(mapped.bytes());
  int count = 0;
  if (!begins_with_key(reader, file.key)) return 0;
  for (auto stored = read_stored(reader); stored; stored = read_stored(reader)) {
    if (take_in(*stored, backbone, snapshots, owner)) ++count;
  }
  return count;
}

}  // namespace adjudge
