#include "onednn_bench.h"

#include <benchmark/benchmark.h>
#include <omp.h>

#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <vector>

namespace adjudge {

namespace {

using dnnl::memory;
using Type = memory::data_type;
using Tag = memory::format_tag;

struct Product {
  const char* name;
  Type input, weight;
};

memory::desc plain(int rows, int columns, Type type, Tag tag) {
  return {{rows, columns}, type, tag};
}

// The layout of the weights is the library's choice, made beforehand: it decodes nothing, and a
// whole-number product has one scale per matrix.
dnnl::matmul::primitive_desc describe(const dnnl::engine& engine, const Product& product, int rows,
                                      int width) {
  const memory::desc input = plain(rows, width, product.input, Tag::ab);
  const memory::desc weight = plain(width, width, product.weight, Tag::any);
  const memory::desc out = plain(rows, width, Type::f32, Tag::ab);
#if DNNL_VERSION_MAJOR >= 3
  return {engine, input, weight, out};
#else
  return {dnnl::matmul::desc(input, weight, out), engine};
#endif
}

// Weights come from memory, as in multiply_matrix.
void multiply(benchmark::State& state, const Product& product, int width, int rows) {
  constexpr std::size_t kBytes = std::size_t{256} << 20;
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const auto description = describe(engine, product, rows, width);
  const dnnl::matmul matmul(description);
  memory input(description.src_desc(), engine), out(description.dst_desc(), engine);
  std::vector<memory> weights;
  const std::size_t bytes = description.weights_desc().get_size();
  while (weights.size() * bytes < kBytes) {
    weights.emplace_back(description.weights_desc(), engine);
    std::fill_n(static_cast<char*>(weights.back().get_data_handle()), bytes, 0x11);
  }
  std::fill_n(static_cast<char*>(input.get_data_handle()), description.src_desc().get_size(), 0x11);
  std::size_t turn = 0;
  for (auto _ : state) {
    matmul.execute(stream, {{DNNL_ARG_SRC, input},
                            {DNNL_ARG_WEIGHTS, weights[turn++ % weights.size()]},
                            {DNNL_ARG_DST, out}});
    stream.wait();
  }
  state.counters["flop/s"] =
      benchmark::Counter(2.0 * rows * width * width * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate);
}

}  // namespace

void add_onednn(std::span<const int> widths, std::span<const int> row_counts) {
  omp_set_num_threads(1);
  for (const Product& product :
       {Product{"f32", Type::f32, Type::f32}, Product{"bf16", Type::bf16, Type::bf16},
        Product{"int8", Type::u8, Type::s8}}) {
    for (const int width : widths) {
      for (const int rows : row_counts) {
        const std::string name = std::string("oneDNN/multiply/") + product.name +
                                 "/width:" + std::to_string(width) +
                                 "/rows:" + std::to_string(rows);
        benchmark::RegisterBenchmark(name.c_str(), multiply, product, width, rows);
      }
    }
  }
}

}  // namespace adjudge
