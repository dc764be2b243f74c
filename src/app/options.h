// Command-line options that several commands share.
#pragma once

#include <iosfwd>
#include <string>

#include "adjudge/result.h"
#include "decide/decide.h"
#include "decide/model.h"
#include "engine/runtime.h"

namespace CLI {
class App;
}

namespace adjudge::app {

// What opening a model takes.
struct ModelFlags {
  std::string model;
  ModelOptions options;
  RuntimeOptions runtime;
  std::string snapshot_folder;  // empty: what is kept over requests ends with the process

  void add_model_to(CLI::App& command);       // --model
  void add_reading_to(CLI::App& command);     // --family, --split: how a file is understood
  void add_arithmetic_to(CLI::App& command);  // --precision, --isa
  void add_runtime_to(
      CLI::App& command);          // --threads, --memory, --snapshot-cache, --snapshot-folder
  void add_to(CLI::App& command);  // all of them

  Status configure_runtime() const;
  Result<std::unique_ptr<ModelFile>> open_file();
  // Configures the process's runtime first; takes back what an earlier process has kept.
  Result<std::unique_ptr<Model>> open_model();
  // Keeps it for a later one. What cannot be kept is a warning: it only saves time.
  void put_away(const Model& opened) const;
};

// --faithful, --questions, --on-truncation
void add_compile_flags(CLI::App& command, CompileOptions& options);

// The whole of a file, or of standard input for "-".
Result<std::string> read_input(const std::string& path);
// What a stream that was read to its end has to say about that; `path` names it.
Status check_read(const std::istream& stream, const std::string& path);

}  // namespace adjudge::app
