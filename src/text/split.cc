#include "text/split.h"

#include <array>

#include "text/split_gpt2.h"
#include "text/split_llama3.h"

namespace adjudge::text {
namespace {

constexpr Split kQwen2{"qwen2", qwen2_piece_end, false, false};
constexpr Split kQwen35{"qwen35", qwen35_piece_end, false, false};
constexpr Split kLlama3{"llama-bpe", llama3_piece_end, true, true};
constexpr Split kGpt2{"gpt-2", gpt2_piece_end, false, false};
constexpr Split kMetaspace{kMetaspaceSplit, nullptr, false, false};
constexpr Split kModernBert{"modern-bert", gpt2_piece_end, false, false};

struct Alias {
  std::string_view pre;
  const Split* split;
};

// The values that mean the same to the reference (llama-vocab.cpp, impl::load).
constexpr auto kAliases = std::to_array<Alias>({
    {"qwen2", &kQwen2},
    {"deepseek-r1-qwen", &kQwen2},
    {"f2llmv2", &kQwen2},
    {"grok-2", &kQwen2},
    {"hunyuan", &kQwen2},
    {"kormo", &kQwen2},
    {"megrez", &kQwen2},
    {"solar-open", &kQwen2},
    {"stablelm2", &kQwen2},
    {"qwen35", &kQwen35},
    {"llama-bpe", &kLlama3},
    {"falcon-h1", &kLlama3},
    {"falcon3", &kLlama3},
    {"jina-v5-nano", &kLlama3},
    {"lfm2", &kLlama3},
    {"llama-v3", &kLlama3},
    {"llama3", &kLlama3},
    {"midm-2.0", &kLlama3},
    {"pixtral", &kLlama3},
    {"gpt-2", &kGpt2},
    {"a.x-4.0", &kGpt2},
    {"exaone4", &kGpt2},
    {"gigachat", &kGpt2},
    {"granite-docling", &kGpt2},
    {"jais", &kGpt2},
    {"jina-de", &kGpt2},
    {"jina-es", &kGpt2},
    {"jina-v1-en", &kGpt2},
    {"jina-v2-code", &kGpt2},
    {"jina-v2-de", &kGpt2},
    {"jina-v2-es", &kGpt2},
    {"mellum", &kGpt2},
    {"mpt", &kGpt2},
    {"olmo", &kGpt2},
    {"phi-2", &kGpt2},
    {"roberta-bpe", &kGpt2},
    {"trillion", &kGpt2},
    {"modern-bert", &kModernBert},
    {kMetaspaceSplit, &kMetaspace},
});

}  // namespace

const Split* find_split(std::string_view pre) {
  for (const Alias& alias : kAliases) {
    if (alias.pre == pre) return alias.split;
  }
  return nullptr;
}

std::string split_names() {
  std::string names;
  for (const Alias& alias : kAliases) {
    if (!names.empty()) names += ", ";
    names += alias.pre;
  }
  return names;
}

}  // namespace adjudge::text
