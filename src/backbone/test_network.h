// A network opened for a test, with its own crew and kernels.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "backbone/registry.h"
#include "backbone/sample.h"
#include "base/size.h"
#include "gguf/file.h"

namespace adjudge::testing {

struct TestNetworkOptions {
  const char* level = nullptr;  // instruction set; null: the best
  int thread_count = 1;
  int rows_max = 512;
  Precision precision = Precision::f32;
};

class TestNetwork {
 public:
  explicit TestNetwork(const Sample& sample, const TestNetworkOptions& options = {})
      : TestNetwork(options, sample.metadata, std::make_unique<BellWeights>(), nullptr) {}
  TestNetwork(const Sample& sample, std::unique_ptr<WeightSource> weights)
      : TestNetwork({}, sample.metadata, std::move(weights), nullptr) {}
  explicit TestNetwork(const std::string& path, const TestNetworkOptions& options = {})
      : TestNetwork(options, gguf::File::open(path).value()) {}

  const gguf::Metadata& metadata() const { return metadata_; }
  WeightSource& weights() { return *weights_; }
  const NetContext& net() const { return net_; }
  const Backbone& backbone() const { return *backbone_; }

  std::unique_ptr<Memory> begin(int token_count_max, std::shared_ptr<const Memory> parent = nullptr,
                                bool continued = false) const {
    return backbone_->begin({std::move(parent), token_count_max, continued});
  }

  // Extends the memory and returns the wanted rows.
  HiddenRows extend(Memory& memory, const Input& input, std::span<const int> wanted) const {
    HiddenRows rows(backbone_->traits().width);
    const Work work{&memory, input, wanted, &rows};
    const Status status = backbone_->extend({&work, 1}, {});
    EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().message());
    return rows;
  }

  // All rows of a prompt evaluated alone and in one call.
  HiddenRows rows_of(std::span<const Token> tokens) const {
    std::vector<int> wanted(tokens.size());
    std::iota(wanted.begin(), wanted.end(), 0);
    const auto memory = begin(count_of(tokens));
    return extend(*memory, {.tokens = tokens}, wanted);
  }

 private:
  TestNetwork(const TestNetworkOptions& options, std::unique_ptr<gguf::File> file)
      : TestNetwork(options, file->metadata(), make_mapped_weights(*file), std::move(file)) {}
  TestNetwork(const TestNetworkOptions& options, gguf::Metadata metadata,
              std::unique_ptr<WeightSource> weights, std::unique_ptr<gguf::File>&& file)
      : file_(std::move(file)),
        metadata_(std::move(metadata)),
        kernels_(kernel::make_table(options.level)),
        pool_(options.thread_count),
        weights_(std::move(weights)),
        net_{&kernels_, &pool_, weights_.get(), options.precision} {
    const BackboneEntry* entry = find_backbone(metadata_.string("general.architecture").value());
    CHECK(entry != nullptr);
    auto opened = entry->open(metadata_, net_, {.rows_max = options.rows_max});
    if (!opened.ok()) ADD_FAILURE() << opened.error().message();
    backbone_ = std::move(opened).value();
  }

  std::unique_ptr<gguf::File> file_;
  gguf::Metadata metadata_;
  kernel::Table kernels_;
  WorkerPool pool_;
  std::unique_ptr<WeightSource> weights_;
  NetContext net_;
  std::unique_ptr<Backbone> backbone_;
};

// Scattered token ids.
inline Tokens some_tokens(int count, int vocabulary_count, int seed = 1) {
  Tokens tokens;
  for (int i = 0; i < count; ++i) tokens.push_back((seed * 31 + i * 17 + i * i) % vocabulary_count);
  return tokens;
}

}  // namespace adjudge::testing
