#include "backbone/sequence_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/size.h"

namespace adjudge {

namespace {

std::size_t recurrence_floats(const MemoryShape& shape) {
  return shape.state_floats + at(shape.tap_count) * at(shape.tap_width);
}

std::shared_ptr<const SequenceMemory> sequence_of(std::shared_ptr<const Memory> memory) {
  auto sequence = std::dynamic_pointer_cast<const SequenceMemory>(memory);
  CHECK(memory == nullptr || (sequence != nullptr && sequence->continued()));
  return sequence;
}

}  // namespace

std::size_t MemoryShape::bytes_per_token() const {
  return at(attention_layer_count) * 2 * at(key_value_width) * sizeof(float);
}

std::size_t MemoryShape::bytes_fixed() const {
  return at(recurrent_layer_count) * recurrence_floats(*this) * sizeof(float);
}

SequenceMemory::SequenceMemory(const MemoryShape& shape, const MemoryOptions& options,
                               std::shared_ptr<SpareArrays> spares)
    : shape_(shape),
      parent_(sequence_of(options.parent)),
      count_max_(options.token_count_max),
      continued_(options.continued),
      spares_(std::move(spares)),
      key_values_(shape.bytes_per_token() / sizeof(float) * at(options.token_count_max)) {}

SequenceMemory::~SequenceMemory() { spares_->leave(std::move(recurrence_)); }

void SequenceMemory::take(int count) {
  CHECK(count > 0 && count <= room());
  count_ += count;
  // The state of a leaf that is evaluated in one go has no reader, so it is never stored.
  const std::size_t floats = shape_.bytes_fixed() / sizeof(float);
  if (awaits_more() && recurrence_.size() < floats) recurrence_ = spares_->take(floats);
}

std::vector<std::span<const std::byte>> SequenceMemory::contents() const {
  return {std::as_bytes(key_values_.span()), std::as_bytes(recurrence_.span())};
}

bool SequenceMemory::fill(std::span<const std::byte> contents) {
  CHECK(count_ == 0);
  take(room());
  if (contents.size() != bytes()) return false;
  for (const std::span<float> part : {key_values_.span(), recurrence_.span()}) {
    if (!part.empty()) std::memcpy(part.data(), contents.data(), part.size_bytes());
    contents = contents.subspan(part.size_bytes());
  }
  return true;
}

void SequenceMemory::append_runs(int attention_layer, int own_count,
                                 std::vector<KeyValueRun>& runs) const {
  if (parent_ != nullptr) parent_->append_runs(attention_layer, parent_->count_, runs);
  if (own_count == 0) return;
  runs.push_back({key_values_.data() + offset_of(attention_layer, 0),
                  key_values_.data() + offset_of(attention_layer, 1), own_count});
}

const SequenceMemory* SequenceMemory::recurrence_before() const {
  const SequenceMemory* memory = this;
  while (memory != nullptr && memory->count_ == 0) memory = memory->parent_.get();
  return memory;
}

std::size_t SequenceMemory::offset_of(int attention_layer, int part) const {
  return (at(attention_layer) * 2 + at(part)) * at(count_max_) * at(shape_.key_value_width);
}

std::size_t SequenceMemory::state_offset(int recurrent_layer) const {
  return at(recurrent_layer) * recurrence_floats(shape_);
}

}  // namespace adjudge
