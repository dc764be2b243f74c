// Speed of every level's panels, in every arithmetic it is fast in, against the ceilings of the
// same run, and of the layer operations made of them. One core; shared machines need the ratio, not
// the figure. A multiply-add counts as two operations, of whole numbers too.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/size.h"
#include "kernel/ceiling.h"
#include "kernel/table.h"
#include "nn/attention.h"
#include "nn/delta_rule.h"
#include "nn/fake_weights.h"
#ifdef ADJ_ONEDNN
#include "onednn_bench.h"
#endif

namespace adjudge {
namespace {

using kernel::kPanelColumns;
using kernel::kPanelDepth;

using Counter = benchmark::Counter;

void count_flops(benchmark::State& state, double flops) {
  state.counters["flop/s"] =
      Counter(flops * static_cast<double>(state.iterations()), Counter::kIsRate);
}

// Of whole products.
constexpr std::array kWidths = {1024, 2048, 8960};
constexpr std::array kRowCounts = {25, 128, 265};

struct MatrixCase {
  gguf::DType type;
  Precision precision;
  int width;
  int rows;
};

std::vector<float> ramp(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i * 7919 % 1000) / 500 - 1;
  return values;
}

void run_ceiling(benchmark::State& state, const kernel::Ceiling& ceiling) {
  for (auto _ : state) ceiling.run();
  count_flops(state, ceiling.operations);
}

void add_ceilings(const std::string& level) {
  for (const kernel::Ceiling& ceiling : kernel::ceilings()) {
    if (level != ceiling.isa) continue;
    benchmark::RegisterBenchmark((level + "/peak/" + ceiling.arithmetic).c_str(), run_ceiling,
                                 ceiling);
  }
}

void multiply_panel(benchmark::State& state, const kernel::Table& table, int rows) {
  constexpr std::size_t kStride = 1536;
  const std::vector<float> x = ramp(at(rows) * kStride), panel = ramp(kPanelDepth * kPanelColumns);
  std::vector<float> out(at(rows) * kStride);
  for (auto _ : state) {
    table.multiply_panel(x.data(), kStride, rows, panel.data(), kPanelDepth, out.data(), kStride,
                         true);
    benchmark::ClobberMemory();
  }
  count_flops(state, 2.0 * rows * kPanelDepth * kPanelColumns);
}

// `fill` is one of a table's fill_panel, fill_pairs or fill_blocks.
template <class Fill, class Panel>
void run_fill(benchmark::State& state, const gguf::DTypeTraits& traits, Fill fill, Panel panel) {
  const std::size_t row_bytes = at(1536 / traits.block_values * traits.block_bytes);
  const std::vector<std::byte> rows(row_bytes * kPanelColumns, std::byte{0x11});
  for (auto _ : state) {
    fill(rows.data(), row_bytes, kPanelColumns, kPanelDepth, kPanelDepth, panel);
    benchmark::ClobberMemory();
  }
  state.counters["weights/s"] = Counter(
      static_cast<double>(state.iterations()) * kPanelDepth * kPanelColumns, Counter::kIsRate);
}

void multiply_pairs(benchmark::State& state, const kernel::Table& table, int rows) {
  constexpr std::size_t kStride = 1536 / 2;
  const std::vector<std::uint32_t> x(at(rows) * kStride, 0x3f803f80u),
      panel(kPanelDepth / 2 * kPanelColumns, 0x3f803f80u);
  std::vector<float> out(at(rows) * 1536);
  for (auto _ : state) {
    table.multiply_pairs(x.data(), kStride, rows, panel.data(), kPanelDepth / 2, out.data(), 1536,
                         true);
    benchmark::ClobberMemory();
  }
  count_flops(state, 2.0 * rows * kPanelDepth * kPanelColumns);
}

// Room for a panel of any form.
struct OwnedBlocks {
  Aligned<std::uint8_t> codes{kPanelDepth * kPanelColumns};
  Aligned<float> scales{2 * kPanelDepth}, offsets{kPanelDepth};
  kernel::BlockPanel panel() { return {codes.data(), scales.data(), offsets.data()}; }
};

void multiply_blocks(benchmark::State& state, const kernel::Table& table, int rows,
                     gguf::DType type) {
  constexpr int kBlocks = kPanelDepth / kernel::kBlockInputs;
  OwnedBlocks owned;
  std::ranges::fill(owned.codes.span(), std::uint8_t{3});
  std::ranges::fill(owned.scales.span(), 0.01f);
  const std::vector<float> values = ramp(at(rows) * kPanelDepth);
  std::vector<kernel::BlockInput> x(at(rows * kBlocks));
  std::vector<float> out(at(rows) * 1536);
  for (int row = 0; row < rows; ++row) {
    table.quantise(values.data() + row * kPanelDepth, kPanelDepth, x.data() + row * kBlocks);
  }
  for (auto _ : state) {
    table.multiply_blocks(x.data(), kBlocks, rows, owned.panel(), kernel::block_form(type), kBlocks,
                          out.data(), 1536, true);
    benchmark::ClobberMemory();
  }
  count_flops(state, 2.0 * rows * kPanelDepth * kPanelColumns);
}

void quantise(benchmark::State& state, const kernel::Table& table) {
  const std::vector<float> x = ramp(1536);
  std::vector<kernel::BlockInput> blocks(48);
  for (auto _ : state) {
    table.quantise(x.data(), 1536, blocks.data());
    benchmark::ClobberMemory();
  }
  state.counters["values/s"] =
      Counter(static_cast<double>(state.iterations()) * 1536, Counter::kIsRate);
}

// A whole product with a matrix as wide as it is high, decoding and rounding included. Weights come
// from memory: distinct copies take turns until they are more than any cache holds.
void multiply_matrix(benchmark::State& state, const kernel::Table& table, const MatrixCase& shape) {
  constexpr std::size_t kBytes = std::size_t{256} << 20;
  const gguf::DTypeTraits& traits = gguf::traits_of(shape.type);
  const int width = shape.width, rows = shape.rows;
  const std::size_t bytes = at(width / traits.block_values * traits.block_bytes) * at(width);
  FakeWeights weights;
  std::vector<Matrix> matrices;
  while (matrices.size() * bytes < kBytes) {
    matrices.push_back(
        weights.add(traits.type, std::vector<std::byte>(bytes, std::byte{0x11}), width, width));
  }
  std::vector<float> x = ramp(at(rows) * at(width)), out = x;
  WorkerPool pool(1);
  const NetContext net{&table, &pool, &weights, shape.precision};
  std::size_t turn = 0;
  for (auto _ : state) {
    multiply(net, {x.data(), rows, width, at(width)}, matrices[turn++ % matrices.size()],
             {out.data(), rows, width, at(width)});
  }
  count_flops(state, 2.0 * rows * width * width);
}

// A layer's attention over a prompt of `tokens`: 12 heads of 128 that share two.
void attend_prompt(benchmark::State& state, const kernel::Table& table, int tokens) {
  const AttentionShape shape{12, 2, 128, 0.088f};
  const std::vector<float> keys = ramp(at(tokens) * 256), values = keys;
  std::vector<float> queries = ramp(at(tokens) * 1536), out = queries;
  WorkerPool pool(1);
  const NetContext net{&table, &pool, nullptr};
  const KeyValueRun run{keys.data(), values.data(), tokens};
  const AttentionWork work{.queries = {queries.data(), tokens, 1536, 1536},
                           .runs = std::span(&run, 1),
                           .out = {out.data(), tokens, 1536, 1536}};
  for (auto _ : state) attend(net, shape, std::span(&work, 1));
  // Half of the scores are visible; two multiply-adds per score and value.
  count_flops(state, 2.0 * 12 * 128 * tokens * (tokens + 1));
}

// A layer's delta rule: 16 heads of 128, as in small hybrids.
void delta_prompt(benchmark::State& state, const kernel::Table& table, int tokens) {
  const DeltaShape shape{16, 16, 128};
  std::vector<float> values = ramp(at(tokens) * 2048), gates(at(tokens) * 16, 0.5f), out = values;
  for (float& value : values) value *= 0.05f;
  std::vector<float> memory(16 * 128 * 128);
  WorkerPool pool(1);
  const NetContext net{&table, &pool, nullptr};
  const Rows rows{values.data(), tokens, 2048, 2048}, gate_rows{gates.data(), tokens, 16, 16};
  const DeltaWork work{.queries = rows,
                       .keys = rows,
                       .values = rows,
                       .decays = gate_rows,
                       .betas = gate_rows,
                       .state_out = memory.data(),
                       .out = {out.data(), tokens, 2048, 2048}};
  for (auto _ : state) apply_delta_rule(net, shape, std::span(&work, 1));
  state.counters["head-tokens/s"] =
      Counter(16.0 * tokens * static_cast<double>(state.iterations()), Counter::kIsRate);
}

// Cases that the level computes as another case are left out.
void add_matrix(const std::string& level, const kernel::Table& table, const MatrixCase& shape) {
  constexpr const char* kNames[] = {"f32", "bf16", "int8"};
  const kernel::Arithmetic arithmetic = arithmetic_of(table, shape.precision, shape.type);
  if (arithmetic == kernel::Arithmetic::bf16 && !table.fast_bf16) return;
  if ((arithmetic == kernel::Arithmetic::int8) != (shape.precision == Precision::automatic)) return;
  const std::string name = level + "/multiply/" + gguf::traits_of(shape.type).name + "/" +
                           kNames[static_cast<int>(arithmetic)] +
                           "/width:" + std::to_string(shape.width) +
                           "/rows:" + std::to_string(shape.rows);
  benchmark::RegisterBenchmark(name.c_str(), multiply_matrix, table, shape);
}

void add_level(const std::string& level, const kernel::Table& table) {
  using gguf::DType;
  const auto add = [&](const std::string& name, auto function, auto... arguments) {
    benchmark::RegisterBenchmark((level + "/" + name).c_str(), function, table, arguments...);
  };
  const auto add_fills = [&](const std::string& name, auto fills, auto panel) {
    for (const gguf::DTypeTraits& traits : gguf::all_dtypes()) {
      const auto fill = fills[static_cast<int>(traits.type)];
      if (fill == nullptr) continue;
      add(name + "/" + traits.name, [=](benchmark::State& state, const kernel::Table&) {
        run_fill(state, traits, fill, panel);
      });
    }
  };
  add_ceilings(level);
  for (const int rows : {1, 8, 25, 64, 256}) {
    const std::string count = "/rows:" + std::to_string(rows);
    add("multiply_panel" + count, multiply_panel, rows);
    if (table.fast_bf16) add("multiply_pairs" + count, multiply_pairs, rows);
    if (!table.fast_int8) continue;
    for (const DType type : {DType::q8_0, DType::q4_K, DType::q6_K}) {
      add(std::string("multiply_blocks/") + gguf::traits_of(type).name + count, multiply_blocks,
          rows, type);
    }
  }
  static Aligned<float> floats(kPanelDepth * kPanelColumns);
  static OwnedBlocks blocks;
  add_fills("fill_panel", table.fill_panel, floats.data());
  if (table.fast_bf16) {
    add_fills("fill_pairs", table.fill_pairs, reinterpret_cast<std::uint32_t*>(floats.data()));
  }
  if (table.fast_int8) {
    add_fills("fill_blocks", table.fill_blocks, blocks.panel());
    add("quantise", quantise);
  }
  for (const DType type : {DType::bf16, DType::q8_0, DType::q4_K, DType::q6_K}) {
    for (const Precision precision : {Precision::f32, Precision::bf16, Precision::automatic}) {
      for (const int width : kWidths) {
        for (const int rows : kRowCounts) add_matrix(level, table, {type, precision, width, rows});
      }
    }
  }
  for (const int tokens : {128, 1024}) {
    add("attend/tokens:" + std::to_string(tokens), attend_prompt, tokens);
  }
  add("delta_rule/tokens:128", delta_prompt, 128);
}

}  // namespace
}  // namespace adjudge

int main(int argc, char** argv) {
  using namespace adjudge;
  const kernel::LevelNames levels = kernel::available_levels();
  for (int i = 0; i < levels.count; ++i) {
    add_level(levels.names[i], kernel::make_table(levels.names[i]));
  }
#ifdef ADJ_ONEDNN
  add_onednn(kWidths, kRowCounts);
#endif
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
