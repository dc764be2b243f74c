// The rows of one pass through a causal network: whose they are, where they stand, and which of
// them somebody reads. Knows nothing of layers or weights.
#pragma once

#include <span>
#include <vector>

#include "backbone/backbone.h"
#include "backbone/sequence_memory.h"
#include "nn/matmul.h"

namespace adjudge {

// Rows that stand together and are read: queries of one attention work.
struct ReaderRun {
  int segment = 0;
  int offset = 0;  // of the first one inside its segment
  int begin = 0;   // ... and among the readers
  int count = 0;
};

// What a network accepts.
struct PassLimits {
  int rows_max = 0;
  int width = 0;
  int vocabulary_count = 0;
  int position_axes = 1;  // 3: positions may come as times, heights and widths
};

class Pass {
 public:
  // The rows of one work. Segments stand in the order of the works: parents before their children.
  struct Segment {
    SequenceMemory* memory = nullptr;
    const SequenceMemory* before = nullptr;  // whose recurrent part the first row continues, if any
    int begin = 0;                           // rows [begin, begin + count) of the pass
    int count = 0;
    int own_begin = 0;       // the first row's place among its memory's own positions
    int position_begin = 0;  // ... and in the whole sequence
    std::span<const int> wanted;
    HiddenRows* rows = nullptr;
  };

  // Checks all inputs, then takes the tokens into the memories. Nothing has changed on error.
  Status begin(std::span<const Work> works, const PassLimits& limits);

  int row_count() const { return row_count_; }
  std::span<const Segment> segments() const { return segments_; }
  // (axes, rows); one axis unless some work brought three.
  std::span<const int> positions() const { return positions_; }

  // From here on only wanted rows are read; rows that nobody's memory needs either leave the pass,
  // and the rest of x moves up.
  void enter_last_layer(Rows& x);

  // The rows whose results are read: all of them, but for the last layer only the wanted ones.
  int reader_count() const { return count_of(readers_); }
  std::span<const int> reader_positions() const { return reader_positions_; }
  std::span<const ReaderRun> reader_runs() const { return reader_runs_; }
  // Moves the readers among the rows of x to its front.
  Rows readers_of(const Rows& x) const;
  bool all_read() const { return reader_count() == row_count_; }

 private:
  Status check(const Work& work, const PassLimits& limits) const;
  void place(const Work& work, int count);
  void set_positions(std::span<const Work> works, int axes);
  void read_all();
  void read_wanted();
  void set_reader_positions();

  int row_count_ = 0;
  int axis_count_ = 1;
  std::vector<Segment> segments_;
  std::vector<int> positions_;
  std::vector<int> readers_;  // rows of the pass, ascending
  std::vector<int> reader_positions_;
  std::vector<ReaderRun> reader_runs_;
};

}  // namespace adjudge
