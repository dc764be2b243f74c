// A model file, opened: which family asks, with which tokenizer, on which network.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adjudge/result.h"
#include "backbone/registry.h"
#include "engine/evaluate.h"
#include "engine/snapshot_store.h"
#include "family/family.h"
#include "gguf/file.h"
#include "text/tokenizer.h"

namespace adjudge {

const char* precision_name(Precision precision);
Result<Precision> parse_precision(std::string_view name);

// What a precision (nn/context.h) means for a file: the arithmetic of each weight format that
// matrices are stored in.
struct FormatArithmetic {
  const char* format;
  const char* arithmetic;
};
std::vector<FormatArithmetic> describe_arithmetic(const gguf::File& file,
                                                  const kernel::Table& kernels,
                                                  Precision precision);

struct ModelOptions {
  std::string family;  // asks this way instead of the way the file names
  std::string split;   // instead of tokenizer.ggml.pre
  Precision precision = Precision::automatic;
  std::string isa;  // the highest instruction-set level to use; empty: all the machine has
};

// Everything that needs no weights: enough to compile requests and to describe the file.
class ModelFile {
 public:
  static Result<std::unique_ptr<ModelFile>> open(const std::string& path,
                                                 const ModelOptions& options);

  const std::string& name() const { return name_; }  // the file's name without its ending
  const gguf::File& file() const { return *file_; }
  const text::Tokenizer& tokenizer() const { return *tokenizer_; }
  const PromptCompiler& compiler() const { return *compiler_; }
  const BackboneTraits& traits() const { return traits_; }
  const BackboneEntry& backbone_entry() const { return *entry_; }
  WeightSource& weights() const { return *weights_; }
  // Hex digits that change whenever the file or its sidecar does.
  const std::string& fingerprint() const { return fingerprint_; }

 private:
  ModelFile() = default;
  std::string name_;
  std::string fingerprint_;
  std::unique_ptr<gguf::File> file_;
  std::optional<json::Value> sidecar_;
  std::unique_ptr<text::Tokenizer> tokenizer_;
  std::unique_ptr<WeightSource> weights_;
  const BackboneEntry* entry_ = nullptr;
  BackboneTraits traits_;
  std::unique_ptr<PromptCompiler> compiler_;
};

// A model file with its network, ready to evaluate. Immutable; safe from several threads.
class Model {
 public:
  static Result<std::unique_ptr<Model>> open(const std::string& path, Runtime& runtime,
                                             const ModelOptions& options);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const ModelFile& file() const { return *file_; }
  const Backbone& backbone() const { return *backbone_; }
  const NetContext& net() const { return net_; }
  Runtime& runtime() const { return *runtime_; }
  Precision precision() const { return net_.precision; }
  // Whether its file is as it was when opened; if not, it answers no more.
  bool intact() const { return file_->file().intact(); }
  // It is never put away for others: what it takes is no room for anybody's pass.
  void stay() { lease_.stay(); }
  // What a pass may take at most, when everything that can has given way; nothing: no limit.
  std::optional<std::size_t> pass_bytes_max() const;
  // What is kept over requests, for another process that opens the same file in the same arithmetic
  // with the same build: in `folder`, which has to be there, under a name of the model's own. The
  // number taken back is zero when there is nothing that fits.
  Status save_snapshots(const std::string& folder) const;
  Result<int> load_snapshots(const std::string& folder) const;

  Evaluator evaluator() const {
    return {*backbone_, *runtime_, snapshot_owner_, [this] { return intact(); }};
  }

 private:
  Model() = default;
  SnapshotFile snapshot_file(const std::string& folder) const;

  std::unique_ptr<ModelFile> file_;
  kernel::Table kernels_;
  NetContext net_{};
  Runtime* runtime_ = nullptr;
  SnapshotCache::Owner snapshot_owner_ = 0;
  std::unique_ptr<Backbone> backbone_;
  MemoryBudget::Lease lease_;
};

}  // namespace adjudge
