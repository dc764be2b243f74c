// A backbone for tests of the stages above: a row is a hash of every token before it, so whoever
// mixes up parents, cuts or rows gets another answer.
#pragma once

#include <cstdint>
#include <cstring>

#include "backbone/backbone.h"
#include "base/check.h"

namespace adjudge {

class FakeBackbone final : public Backbone {
 public:
  explicit FakeBackbone(int rows_max = 512) : rows_max_(rows_max) {
    traits_.name = "fake";
    traits_.width = 4;
    traits_.vocabulary_count = 1000;
    traits_.positions_max = 4096;
    traits_.memory_bytes_per_token = 16;
  }

  const BackboneTraits& traits() const override { return traits_; }
  int rows_max() const override { return rows_max_; }
  std::size_t scratch_bytes() const override { return 0; }
  int pass_count() const { return pass_count_; }

  std::unique_ptr<Memory> begin(const MemoryOptions& options) const override {
    auto memory = std::make_unique<HashMemory>();
    memory->parent = std::static_pointer_cast<const HashMemory>(options.parent);
    memory->room = options.token_count_max;
    return memory;
  }

  Status extend(std::span<const Work> works, std::stop_token stop) const override {
    ++pass_count_;
    if (stop.stop_requested()) return Error{ErrorKind::cancelled, "given up"};
    std::size_t row_count = 0;
    for (const Work& work : works) {
      auto& memory = static_cast<HashMemory&>(*work.memory);
      if (memory.count == 0 && memory.parent) memory.hash = memory.parent->hash;
      auto wanted = work.wanted.begin();
      for (int i = 0; i < count_of(work.input.tokens); ++i) {
        CHECK(++memory.count <= memory.room);
        memory.hash =
            (memory.hash ^ static_cast<std::uint64_t>(work.input.tokens[at(i)])) * 0x100000001B3u;
        if (wanted == work.wanted.end() || *wanted != i) continue;
        for (float& value : work.rows->add_row()) {
          value = static_cast<float>(memory.hash >> 40) / 16777216.0f;
        }
        ++wanted;
      }
      row_count += work.input.tokens.size();
    }
    CHECK(row_count <= at(rows_max_));
    return Done{};
  }

 private:
  struct HashMemory final : Memory {
    std::shared_ptr<const HashMemory> parent;
    int room = 0;
    int count = 0;
    std::uint64_t hash = 0xCBF29CE484222325u;
    int length() const override { return (parent ? parent->length() : 0) + count; }
    std::size_t bytes() const override { return sizeof *this; }
    std::vector<std::span<const std::byte>> contents() const override {
      const auto bytes = std::as_bytes(std::span(&hash, 1));
      return {bytes.first(3), bytes.subspan(3)};
    }
    bool fill(std::span<const std::byte> contents) override {
      if (contents.size() != sizeof hash) return false;
      std::memcpy(&hash, contents.data(), sizeof hash);
      count = room;
      return true;
    }
  };

  BackboneTraits traits_;
  int rows_max_;
  mutable int pass_count_ = 0;
};

}  // namespace adjudge
