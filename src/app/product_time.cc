#include "app/product_time.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string_view>

#include "base/size.h"
#include "kernel/ceiling.h"

namespace adjudge::app {

namespace {

constexpr std::array kArithmetics = {"f32", "bf16", "int8"};  // in the order of the enumeration

// The best of several, as another program's turn only ever makes it worse.
double measure(WorkerPool& workers, const kernel::Ceiling& ceiling) {
  constexpr int kRounds = 7, kRuns = 1500;  // a few milliseconds, to be done by all workers at once
  const int count = workers.thread_count();
  auto work = [&](int, int) {
    for (int i = 0; i < kRuns; ++i) ceiling.run();
  };
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    workers.run(count, work);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    best = std::max(best, ceiling.operations * kRuns * count / seconds.count());
  }
  return best;
}

// Levels the machine has and the model may use.
bool is_in_use(const kernel::Ceiling& ceiling, std::string_view highest) {
  const kernel::LevelNames levels = kernel::available_levels();
  for (int i = 0; i < levels.count; ++i) {
    if (std::string_view(ceiling.isa) == levels.names[i]) return true;
    if (highest == levels.names[i]) return false;
  }
  return false;
}

// The layer of "blk.7.attn_k.weight", or -1.
int layer_of(std::string_view name) {
  constexpr std::string_view kBlock = "blk.";
  int layer = -1;
  if (name.starts_with(kBlock)) {
    std::from_chars(name.data() + kBlock.size(), name.data() + name.size(), layer);
  }
  return layer;
}

bool every_token_passes(const gguf::Tensor& tensor, int layer_count) {
  const std::string_view name = tensor.name;
  const int layer = layer_of(name);
  if (tensor.shape.size() < 2 || name.find("conv") != name.npos) return false;
  if (layer < 0 || layer >= layer_count) return false;
  if (layer < layer_count - 1) return true;
  return std::ranges::any_of(std::array{".attn_k.", ".attn_v.", ".attn_qkv."},
                             [&](std::string_view part) { return name.find(part) != name.npos; });
}

// Of the weights of a tensor, those that multiply one token: all, or the experts it is sent to.
double weights_per_token(const gguf::File& file, const gguf::Tensor& tensor) {
  const auto weights = static_cast<double>(tensor.value_count());
  if (tensor.shape.size() < 3) return weights;
  const std::string key = std::string(file.architecture()) + ".expert_used_count";
  const auto used = file.metadata().find_integer(key);
  if (!used.ok() || !used.value()) return weights;
  return weights * static_cast<double>(*used.value()) / static_cast<double>(tensor.shape[2]);
}

}  // namespace

CeilingRates measure_ceilings(const Model& model) {
  CeilingRates rates{};
  auto job = [&] {
    for (const kernel::Ceiling& ceiling : kernel::ceilings()) {
      if (!is_in_use(ceiling, model.net().kernels->isa)) continue;
      const auto found = std::ranges::find(kArithmetics, std::string_view(ceiling.arithmetic));
      rates[at(static_cast<int>(found - kArithmetics.begin()))] =
          measure(model.runtime().workers(), ceiling);
    }
  };
  model.runtime().run(job);
  return rates;
}

double product_seconds_per_token(const Model& model, const CeilingRates& rates) {
  const gguf::File& file = model.file().file();
  double seconds = 0;
  for (const gguf::Tensor& tensor : file.tensors()) {
    if (!every_token_passes(tensor, model.file().traits().layer_count)) continue;
    const auto arithmetic = arithmetic_of(*model.net().kernels, model.precision(), tensor.type);
    const double rate = rates[at(static_cast<int>(arithmetic))];
    if (rate == 0) return 0;
    seconds += 2 * weights_per_token(file, tensor) / rate;
  }
  return seconds;
}

}  // namespace adjudge::app
