// Command-line options that several commands share.
#pragma once

#include <string>

#include "adjudge/result.h"
#include "decide/decide.h"
#include "decide/model.h"
#include "engine/runtime.h"

namespace CLI {
class App;
}

namespace adjudge::app {

// --model, --family, --split, --precision, --isa, --threads, --memory, --snapshot-cache: what
// opening a model takes.
struct ModelFlags {
  std::string model;
  std::string precision = "auto";
  ModelOptions options;
  int thread_count = 0;
  std::size_t memory_bytes_max = 0;
  std::size_t snapshot_bytes_max = kSnapshotBytes;

  void add_to(CLI::App& command);       // all of them
  void add_file_to(CLI::App& command);  // those that matter without weights

  Status configure_runtime() const;
  Result<std::unique_ptr<ModelFile>> open_file();
  // Configures the process's runtime first.
  Result<std::unique_ptr<Model>> open_model();
};

// --faithful, --questions, --on-truncation
void add_compile_flags(CLI::App& command, CompileOptions& options);

// The whole of a file, or of standard input for "-".
Result<std::string> read_input(const std::string& path);

}  // namespace adjudge::app
