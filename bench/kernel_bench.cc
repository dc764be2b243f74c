// Speed of every level's panels against the multiply-add ceiling of the same run, and of the layer
// operations made of them. One core; shared machines need the ratio, not the figure.
#include <benchmark/benchmark.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/size.h"
#include "kernel/table.h"
#include "nn/attention.h"
#include "nn/delta_rule.h"
#include "nn/fake_weights.h"

namespace adjudge {
namespace {

using kernel::kPanelColumns;
using kernel::kPanelDepth;

using Counter = benchmark::Counter;

void count_flops(benchmark::State& state, double flops) {
  state.counters["flop/s"] =
      Counter(flops * static_cast<double>(state.iterations()), Counter::kIsRate);
}

std::vector<float> ramp(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i * 7919 % 1000) / 500 - 1;
  return values;
}

#if defined(__x86_64__)

// Independent chains of multiply-adds in registers: what a core can do at most with such vectors.
// 16 of them hide a latency of 4 at up to four a cycle.
constexpr int kChains = 16;
constexpr int kRounds = 1000;

[[gnu::target("avx512f")]] void run_512(const float* constants) {
  const __m512 factor = _mm512_set1_ps(constants[0]), term = _mm512_set1_ps(constants[1]);
  __m512 sums[kChains];
  for (__m512& sum : sums) sum = term;
  for (int round = 0; round < kRounds; ++round) {
    for (__m512& sum : sums) sum = _mm512_fmadd_ps(sum, factor, term);
  }
  for (__m512& sum : sums) benchmark::DoNotOptimize(sum);
}

// 12 chains, as there are 16 registers.
[[gnu::target("avx2,fma")]] void run_256(const float* constants) {
  const __m256 factor = _mm256_set1_ps(constants[0]), term = _mm256_set1_ps(constants[1]);
  __m256 sums[12];
  for (__m256& sum : sums) sum = term;
  for (int round = 0; round < kRounds; ++round) {
    for (__m256& sum : sums) sum = _mm256_fmadd_ps(sum, factor, term);
  }
  for (__m256& sum : sums) benchmark::DoNotOptimize(sum);
}

void peak(benchmark::State& state, void (*run)(const float*), double flops) {
  const float constants[] = {0.999f, 0.001f};
  for (auto _ : state) run(constants);
  count_flops(state, flops);
}

void add_peak(const std::string& level) {
  if (level == "avx512") {
    benchmark::RegisterBenchmark("avx512/peak", peak, run_512, 2.0 * kRounds * kChains * 16);
  }
  if (level == "avx2") {
    benchmark::RegisterBenchmark("avx2/peak", peak, run_256, 2.0 * kRounds * 12 * 8);
  }
}

#else
void add_peak(const std::string&) {}
#endif

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

void fill_panel(benchmark::State& state, const kernel::Table& table, gguf::DType type) {
  const gguf::DTypeTraits& traits = gguf::traits_of(type);
  const std::size_t row_bytes = at(1536 / traits.block_values * traits.block_bytes);
  const std::vector<std::byte> rows(row_bytes * kPanelColumns, std::byte{0x11});
  Aligned<float> panel(kPanelDepth * kPanelColumns);
  for (auto _ : state) {
    table.fill_panel[static_cast<int>(type)](rows.data(), row_bytes, kPanelColumns, kPanelDepth,
                                             kPanelDepth, panel.data());
    benchmark::ClobberMemory();
  }
  state.counters["weights/s"] = Counter(
      static_cast<double>(state.iterations()) * kPanelDepth * kPanelColumns, Counter::kIsRate);
}

// A whole product with a Q4_K matrix as wide as it is high, decoding included.
void multiply_matrix(benchmark::State& state, const kernel::Table& table, int rows, int width) {
  const gguf::DTypeTraits& traits = gguf::traits_of(gguf::DType::q4_K);
  FakeWeights weights;
  std::vector<std::byte> stored(at(width / traits.block_values * traits.block_bytes) * at(width),
                                std::byte{0x11});
  const Matrix matrix = weights.add(traits.type, std::move(stored), width, width);
  std::vector<float> x = ramp(at(rows) * at(width)), out = x;
  WorkerPool pool(1);
  const NetContext net{&table, &pool, &weights};
  for (auto _ : state) {
    multiply(net, {x.data(), rows, width, at(width)}, matrix, {out.data(), rows, width, at(width)});
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

void add_level(const std::string& level, const kernel::Table& table) {
  const auto add = [&](const std::string& name, auto function, auto argument) {
    benchmark::RegisterBenchmark((level + "/" + name).c_str(), function, table, argument);
  };
  add_peak(level);
  for (const int rows : {1, 8, 25, 64, 256}) {
    add("multiply_panel/rows:" + std::to_string(rows), multiply_panel, rows);
  }
  using gguf::DType;
  for (const DType type : {DType::f32, DType::f16, DType::bf16, DType::q8_0, DType::q4_0,
                           DType::q5_0, DType::q4_K, DType::q5_K, DType::q6_K, DType::iq4_xs}) {
    add(std::string("fill_panel/") + gguf::traits_of(type).name, fill_panel, type);
  }
  for (const int width : {1536, 2048, 8960}) {
    for (const int rows : {25, 256}) {
      add(
          "multiply/width:" + std::to_string(width) + "/rows:" + std::to_string(rows),
          [width](benchmark::State& state, const kernel::Table& own, int count) {
            multiply_matrix(state, own, count, width);
          },
          rows);
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
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
