// For tests of families: files opened as far as a family needs them, and requests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "base/try.h"
#include "family/family.h"
#include "protocol/systemone.h"
#include "support/gguf_writer.h"
#include "support/support.h"

namespace adjudge::testing {

template <class T>
T value_of(Result<T> result) {
  if (!result.ok()) {
    ADD_FAILURE() << result.error().message();
    std::abort();
  }
  return std::move(result).value();
}

struct TestModel {
  std::unique_ptr<gguf::File> file;
  std::unique_ptr<text::Tokenizer> tokenizer;
  std::unique_ptr<WeightSource> weights;
  std::unique_ptr<PromptCompiler> compiler;

  Compiled compile(const Request& request, const CompileOptions& options = {}) const {
    return value_of(compiler->compile(request, options));
  }
  std::string text(const Request& request, const CompileOptions& options = {},
                   int prompt = 0) const {
    return compile(request, options).notes.at(at(prompt)).text;
  }
};

inline Result<TestModel> try_open_model(const std::string& path, const Family* family = nullptr,
                                        const json::Value* sidecar = nullptr) {
  TestModel model;
  ADJ_TRY(model.file, gguf::File::open(path));
  const gguf::Metadata& metadata = model.file->metadata();
  ADJ_TRY(model.tokenizer, text::Tokenizer::open(metadata));
  model.weights = make_mapped_weights(*model.file);
  if (family == nullptr) {
    ADJ_TRY(family, claiming_family(metadata));
  }
  const std::string width_key = std::string(model.file->architecture()) + ".embedding_length";
  ADJ_TRY(const int width, metadata.integer(width_key, 1, 1 << 20));
  ADJ_TRY(model.compiler, family->open({model.file.get(), model.tokenizer.get(),
                                        model.weights.get(), width, sidecar}));
  return model;
}

inline TestModel open_tiny(std::string_view name) {
  return value_of(try_open_model(tiny_model(name)));
}

inline Request request_of(std::string_view body) { return value_of(parse_systemone(body, {})); }

inline const char* kChatMlTemplate =
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}"
    "{% endfor %}{{ '<|im_start|>assistant\\n' }}";

struct ChatFileOptions {
  bool adds_bos = false;
  bool knows_yes_and_no = true;
};

// The vocabulary of a tiny model in a file that names no family, as far as a chat model needs one.
inline GgufWriter chat_file(std::string_view chat_template, const ChatFileOptions& options = {}) {
  const auto source = value_of(gguf::File::open(tiny_model("tiny-openjev-qwen3-f32")));
  const gguf::Metadata& metadata = source->metadata();
  const auto strings = [&](std::string_view key) {
    const auto views = value_of(metadata.strings(key));
    return std::vector<std::string>(views.begin(), views.end());
  };
  constexpr int kWidth = 4;
  std::vector<std::string> tokens = strings("tokenizer.ggml.tokens");
  std::vector<std::string> merges = strings("tokenizer.ggml.merges");
  std::vector<std::int64_t> types = value_of(metadata.integers("tokenizer.ggml.token_type"));
  for (const char* merge : {"Y es", "y es", "N o"}) {  // the cut vocabulary has no such words
    if (!options.knows_yes_and_no) break;
    merges.emplace_back(merge);
    tokens.push_back(merges.back().substr(0, 1) + merges.back().substr(2));
    types.push_back(1);
  }
  GgufWriter writer("qwen3");
  writer.integer("qwen3.embedding_length", kWidth)
      .text("tokenizer.ggml.model", "gpt2")
      .text("tokenizer.ggml.pre", "qwen2")
      .texts("tokenizer.ggml.tokens", tokens)
      .integers("tokenizer.ggml.token_type", types)
      .texts("tokenizer.ggml.merges", merges)
      .integer("tokenizer.ggml.eos_token_id",
               value_of(metadata.integer("tokenizer.ggml.eos_token_id", 0, count_of(tokens))));
  if (options.adds_bos) {
    writer.integer("tokenizer.ggml.bos_token_id",
                   value_of(metadata.integer("tokenizer.ggml.eos_token_id", 0, count_of(tokens))));
    writer.boolean("tokenizer.ggml.add_bos_token", true);
  }
  if (!chat_template.empty()) writer.text("tokenizer.chat_template", chat_template);
  const std::vector<float> head(tokens.size() * kWidth, 0.5f);
  writer.tensor("token_embd.weight", {kWidth, count_of(tokens)}, head);
  return writer;
}

// Opens what the writer holds.
inline Result<TestModel> try_open_file(const GgufWriter& writer, const Family* family = nullptr,
                                       const json::Value* sidecar = nullptr) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/model.gguf";
  writer.write(path);
  return try_open_model(path, family, sidecar);  // stays mapped when the folder goes
}

}  // namespace adjudge::testing
