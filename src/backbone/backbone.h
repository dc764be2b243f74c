// The port behind which a network lives: final-norm rows of the tokens somebody reads.
// A backbone knows tokens, positions and its own memory; nothing of questions, prompts or heads.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "adjudge/result.h"
#include "base/hidden_rows.h"
#include "base/token.h"
#include "nn/context.h"

namespace adjudge {

struct BackboneTraits {
  std::string name;  // the architecture, as GGUF spells it
  int width = 0;     // of a hidden row
  int layer_count = 0;
  int vocabulary_count = 0;
  int positions_max = 0;  // the longest sequence it was made for
  bool causal = true;     // false: an encoder, every sequence in one work
  std::size_t memory_bytes_per_token = 0;
  std::size_t memory_bytes_fixed = 0;  // of one memory, whatever its length
};

// What a sequence leaves in the network: keys and values, recurrent state, convolution taps.
// A memory continues its parent by reference; the parent outlives it and is not extended any more
// once a child has been.
class Memory {
 public:
  virtual ~Memory() = default;
  virtual int length() const = 0;         // positions held, ancestors included
  virtual std::size_t bytes() const = 0;  // own, without ancestors

  // Its own bytes, for another process of the same build: `fill` makes an empty memory of the same
  // options, with no more room than tokens, into a copy; false when that is not what they are.
  virtual std::vector<std::span<const std::byte>> contents() const = 0;
  virtual bool fill(std::span<const std::byte> contents) = 0;
};

struct MemoryOptions {
  std::shared_ptr<const Memory> parent;  // null: an empty sequence
  int token_count_max = 0;               // how many tokens this memory itself will take
  bool continued = false;                // children will follow: keep what they need
};

// What is evaluated: token ids, or rows in their place (images).
struct Input {
  std::span<const Token> tokens;
  std::span<const float> embeddings;  // (count, width) instead of tokens
  std::span<const int>
      positions;  // empty: they follow the memory. count, or 3 * count: all times, heights, widths
  std::span<const int> token_types;  // empty: none
  bool causal = true;                // false: every row of this work sees every other
};

struct Work {
  Memory* memory = nullptr;
  Input input;
  std::span<const int> wanted;  // indices into the input, ascending
  HiddenRows* rows = nullptr;   // the wanted rows are appended here
};

class Backbone {
 public:
  virtual ~Backbone() = default;
  virtual const BackboneTraits& traits() const = 0;
  virtual std::unique_ptr<Memory> begin(const MemoryOptions& options) const = 0;

  // Evaluates all works in one pass through the layers. A work's memory may continue the memory of
  // an earlier work of the same pass; a memory appears once. The works' rows together are at most
  // rows_max() of them, unless the only work is a sequence that cannot be cut. A row's bits depend
  // on the tokens it may see (those before it; for an encoder, all of its own sequence), never on
  // company, cuts or threads. Stops between layers with ErrorKind::cancelled when asked to; the
  // memories of the works are then void.
  virtual Status extend(std::span<const Work> works, std::stop_token stop) const = 0;

  // Rows one pass takes, and the scratch that costs. Scratch is allocated at the first pass, grows
  // for a longer sequence that cannot be cut, and is kept.
  virtual int rows_max() const = 0;
  virtual std::size_t scratch_bytes() const = 0;
};

}  // namespace adjudge
