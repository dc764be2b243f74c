#include "nn/attention.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/size.h"

namespace adjudge {

namespace {

using kernel::kPanelColumns;
using kernel::kPanelDepth;

// Query rows of a task times the heads that share its keys. Keys and values are turned into panels
// once per task: a tenth of the work at 96 rows, and short prompts still give everybody some.
constexpr int kTileRows = 96;
// Scores of a tile at most: 4 MiB. Rows are fewer from 11k keys on.
constexpr int kTileScores = 1 << 20;

constexpr std::size_t kPanelFloats = std::size_t{kPanelColumns} * kPanelDepth;

// Absolute key positions [begin, end).
struct KeyRange {
  int begin;
  int end;
  int count() const { return end - begin; }
};

int key_count_of(const AttentionWork& work) {
  int count = 0;
  for (const KeyValueRun& run : work.runs) count += run.count;
  return count;
}

// What row `row` of the work sees.
KeyRange visible(const AttentionWork& work, int row, int key_count) {
  const int position = work.first_visible - 1 + row;
  KeyRange range{0, work.causal ? std::min(key_count, position + 1) : key_count};
  if (work.window > 0) {
    range.begin = std::clamp(position - work.window + 1, 0, range.end);
    range.end = std::clamp(position + work.window, range.begin, range.end);
  }
  return range;
}

// Query rows [begin, begin + count) of a work for the heads of one kv head. The rows of the
// products are (query row, head of the group).
struct Tile {
  const AttentionWork* work;
  int kv_head;
  int begin;
  int count;
  int group;      // query heads per kv head
  KeyRange keys;  // what any of the rows sees
  int rows() const { return count * group; }
};

// A worker's scratch, cut up.
struct TileBuffers {
  float* panel;
  float* queries;  // (rows, head_width)
  float* scores;   // (rows, score_stride)
  std::size_t score_stride;
  float* sums;  // (rows, kPanelColumns)

  TileBuffers(const NetContext& net, int worker, const Tile& tile, int head_width) {
    // A panel of scores may reach past the last key.
    score_stride = at(tile.keys.count() + kPanelColumns);
    const std::size_t rows = at(tile.rows());
    panel = net.pool->scratch(
        worker, kPanelFloats + rows * (at(head_width) + score_stride + kPanelColumns));
    queries = panel + kPanelFloats;
    sums = queries + rows * at(head_width);
    scores = sums + rows * kPanelColumns;
  }
};

// body(run, first, count, position) for pieces of up to `size` keys of the runs that lie in `keys`:
// keys [first, first + count) of the run are at absolute positions from `position` on.
template <class Body>
void for_each_piece(const AttentionWork& work, const KeyRange& keys, int size, const Body& body) {
  int run_begin = 0;
  for (const KeyValueRun& run : work.runs) {
    const int end = std::min(keys.end - run_begin, run.count);
    for (int first = std::max(keys.begin - run_begin, 0); first < end; first += size) {
      body(run, first, std::min(size, end - first), run_begin + first);
    }
    run_begin += run.count;
  }
}

void gather_queries(const AttentionShape& shape, const Tile& tile, float* queries) {
  for (int i = 0; i < tile.rows(); ++i) {
    const int head = tile.kv_head * tile.group + i % tile.group;
    const float* query =
        tile.work->queries.row(tile.begin + i / tile.group) + head * shape.head_width;
    float* scaled = queries + at(i) * at(shape.head_width);
    for (int d = 0; d < shape.head_width; ++d) scaled[d] = query[d] * shape.scale;
  }
}

// Each score is one sum along the head's width, so it does not know its neighbours.
void compute_scores(const NetContext& net, const AttentionShape& shape, const Tile& tile,
                    const TileBuffers& buffers) {
  const std::size_t kv_width = at(shape.kv_head_count * shape.head_width);
  const auto fill_panel = net.kernels->fill_panel[static_cast<int>(gguf::DType::f32)];
  const auto multiply_piece = [&](const KeyValueRun& run, int first, int count, int position) {
    const float* keys = run.keys + at(first) * kv_width + tile.kv_head * shape.head_width;
    for (int begin = 0; begin < shape.head_width; begin += kPanelDepth) {
      const int depth = std::min(kPanelDepth, shape.head_width - begin);
      fill_panel(reinterpret_cast<const std::byte*>(keys), kv_width * sizeof(float), count, begin,
                 depth, buffers.panel);
      net.kernels->multiply_panel(
          buffers.queries + begin, at(shape.head_width), tile.rows(), buffers.panel, depth,
          buffers.scores + (position - tile.keys.begin), buffers.score_stride, begin > 0);
    }
  };
  for_each_piece(*tile.work, tile.keys, kPanelColumns, multiply_piece);
}

// Softmax of what each row sees; the other keys of the tile weigh nothing.
void weigh_scores(const NetContext& net, const Tile& tile, int key_count,
                  const TileBuffers& buffers) {
  for (int i = 0; i < tile.rows(); ++i) {
    float* scores = buffers.scores + at(i) * buffers.score_stride;
    const KeyRange seen = visible(*tile.work, tile.begin + i / tile.group, key_count);
    float* begin = scores + (seen.begin - tile.keys.begin);
    float* end = scores + (seen.end - tile.keys.begin);
    std::fill(scores, begin, 0.0f);
    if (seen.count() > 0) net.kernels->softmax(begin, seen.count());
    std::fill(end, scores + tile.keys.count(), 0.0f);
  }
}

void write_sums(const AttentionShape& shape, const Tile& tile, const float* sums, int begin,
                int count) {
  for (int i = 0; i < tile.rows(); ++i, sums += kPanelColumns) {
    const int head = tile.kv_head * tile.group + i % tile.group;
    float* out = tile.work->out.row(tile.begin + i / tile.group) + head * shape.head_width + begin;
    // Adding zero turns -0 into 0: keys a row does not see may have changed the sign of a zero.
    for (int d = 0; d < count; ++d) out[d] = sums[d] + 0.0f;
  }
}

// Copies columns [begin, begin + columns) of the values of `keys` to a panel, whatever runs they
// lie in.
void gather_values(const AttentionShape& shape, const Tile& tile, const KeyRange& keys, int begin,
                   int columns, float* panel) {
  const std::size_t kv_width = at(shape.kv_head_count * shape.head_width);
  const auto copy_piece = [&](const KeyValueRun& run, int first, int count, int position) {
    const float* values =
        run.values + at(first) * kv_width + tile.kv_head * shape.head_width + begin;
    float* row = panel + (position - keys.begin) * kPanelColumns;
    for (int key = 0; key < count; ++key, row += kPanelColumns) {
      std::memcpy(row, values + at(key) * kv_width, at(columns) * sizeof(float));
      std::fill(row + columns, row + kPanelColumns, 0.0f);
    }
  };
  for_each_piece(*tile.work, keys, keys.count(), copy_piece);
}

// Each sum runs over blocks of absolute key positions and in them over the keys in ascending order,
// so that neither runs nor the tile show in the bits.
void sum_values(const NetContext& net, const AttentionShape& shape, const Tile& tile,
                const TileBuffers& buffers) {
  for (int begin = 0; begin < shape.head_width; begin += kPanelColumns) {
    const int columns = std::min(kPanelColumns, shape.head_width - begin);
    KeyRange block{tile.keys.begin, tile.keys.begin};
    while (block.end < tile.keys.end) {
      block.begin = block.end;
      block.end = std::min(tile.keys.end, (block.begin / kPanelDepth + 1) * kPanelDepth);
      gather_values(shape, tile, block, begin, columns, buffers.panel);
      const int offset = block.begin - tile.keys.begin;
      net.kernels->multiply_panel(buffers.scores + offset, buffers.score_stride, tile.rows(),
                                  buffers.panel, block.count(), buffers.sums, kPanelColumns,
                                  offset > 0);
    }
    write_sums(shape, tile, buffers.sums, begin, columns);
  }
}

void attend_tile(const NetContext& net, const AttentionShape& shape, const Tile& tile,
                 int key_count, int worker) {
  const TileBuffers buffers(net, worker, tile, shape.head_width);
  gather_queries(shape, tile, buffers.queries);
  compute_scores(net, shape, tile, buffers);
  weigh_scores(net, tile, key_count, buffers);
  sum_values(net, shape, tile, buffers);
}

// Query rows of one tile of the work; tiles never show in the bits.
int tile_size(const AttentionWork& work, int group) {
  const int rows = std::min(kTileRows, kTileScores / std::max(1, key_count_of(work)));
  return std::max(1, rows / group);
}

int tile_count(const AttentionWork& work, int group) {
  const int size = tile_size(work, group);
  return (work.queries.count + size - 1) / size;
}

Tile tile_of(const AttentionWork& work, int group, int kv_head, int index, int key_count) {
  const int size = tile_size(work, group);
  Tile tile{&work, kv_head, index * size, std::min(size, work.queries.count - index * size),
            group, {}};
  // Both ends of what rows see only ever grow.
  tile.keys = {visible(work, tile.begin, key_count).begin,
               visible(work, tile.begin + tile.count - 1, key_count).end};
  return tile;
}

}  // namespace

void attend(const NetContext& net, const AttentionShape& shape,
            std::span<const AttentionWork> works) {
  CHECK(shape.kv_head_count > 0 && shape.head_count % shape.kv_head_count == 0);
  const int group = shape.head_count / shape.kv_head_count;
  const int width = shape.head_count * shape.head_width;
  int task_count = 0;
  for (const AttentionWork& work : works) {
    CHECK(work.queries.width == width && work.out.width == width &&
          work.out.count == work.queries.count);
    const int key_count = key_count_of(work);
    CHECK(key_count > 0 || work.queries.count == 0);
    CHECK(!work.causal || work.first_visible - 1 + work.queries.count <= key_count);
    task_count += tile_count(work, group) * shape.kv_head_count;
  }
  const auto attend_one = [&](int index, int worker) {
    const AttentionWork* work = works.data();
    for (; index >= tile_count(*work, group) * shape.kv_head_count; ++work) {
      index -= tile_count(*work, group) * shape.kv_head_count;
    }
    const int key_count = key_count_of(*work);
    const Tile tile =
        tile_of(*work, group, index % shape.kv_head_count, index / shape.kv_head_count, key_count);
    attend_tile(net, shape, tile, key_count, worker);
  };
  net.pool->run(task_count, attend_one);
}

}  // namespace adjudge
