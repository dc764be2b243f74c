#include "app/options.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>

#include "app/catalogue.h"
#include "base/try.h"

namespace adjudge::app {

namespace {

// The library reads -5 as the largest number but five.
std::string refuse_minus(std::string& text) {
  return text.starts_with('-') ? "must not be negative" : "";
}

std::string refuse_unknown_precision(const std::string& name) {
  const Result<Precision> precision = parse_precision(name);
  return precision.ok() ? "" : precision.error().message();
}

void add_bytes(CLI::App& command, const char* name, std::size_t& bytes, const char* what) {
  command.add_option(name, bytes, what)
      ->transform(CLI::AsSizeValue(false))
      ->transform(CLI::Validator(refuse_minus, ""))
      ->capture_default_str();
}

template <class T>
void warn_unless(const Result<T>& done) {
  if (!done.ok()) std::cerr << "adjudge: warning: " << done.error().message() << "\n";
}

}  // namespace

void ModelFlags::add_model_to(CLI::App& command) {
  command.add_option("--model", model, "a GGUF file, or the name of a pulled model")->required();
}

void ModelFlags::add_reading_to(CLI::App& command) {
  command.add_option("--family", options.family, "ask this family's way, whatever the file says");
  command.add_option("--split", options.split,
                     "split text this way instead of as tokenizer.ggml.pre says");
}

void ModelFlags::add_arithmetic_to(CLI::App& command) {
  command
      .add_option_function<std::string>(
          "--precision",
          [this](const std::string& name) { options.precision = parse_precision(name).value(); },
          "arithmetic of matrix products: auto, f32, bf16 or int8")
      ->check(CLI::Validator(refuse_unknown_precision, ""))
      ->default_str(precision_name(options.precision));
  command.add_option("--isa", options.isa, "use no instruction set above this one")
      ->envname("ADJ_ISA");
}

void ModelFlags::add_runtime_to(CLI::App& command) {
  command
      .add_option("--threads", runtime.thread_count,
                  "worker threads (0: as many cores as the process may use)")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  add_bytes(command, "--memory", runtime.memory_bytes_max,
            "bytes beside the model file, such as 2GB (0: no limit)");
  add_bytes(command, "--snapshot-cache", runtime.snapshot_bytes_max,
            "bytes of states kept over requests, such as 512MB (0: keep none)");
  command
      .add_option("--snapshot-folder", snapshot_folder,
                  "keep them over restarts in this folder, readable for its owner only")
      ->check(CLI::ExistingDirectory);
}

void ModelFlags::add_to(CLI::App& command) {
  add_model_to(command);
  add_reading_to(command);
  add_arithmetic_to(command);
  add_runtime_to(command);
}

Status ModelFlags::configure_runtime() const { return Runtime::process().configure(runtime); }

Result<std::unique_ptr<ModelFile>> ModelFlags::open_file() {
  ADJ_TRY(const std::string path, resolve_model(model));
  return ModelFile::open(path, options);
}

Result<std::unique_ptr<Model>> ModelFlags::open_model() {
  ADJ_TRY(const std::string path, resolve_model(model));
  ADJ_TRY_DONE(configure_runtime());
  ADJ_TRY(std::unique_ptr<Model> opened, Model::open(path, Runtime::process(), options));
  if (!snapshot_folder.empty()) {
    warn_unless(opened->load_snapshots(snapshot_folder));
  }
  return opened;
}

void ModelFlags::put_away(const Model& opened) const {
  if (!snapshot_folder.empty()) warn_unless(opened.save_snapshots(snapshot_folder));
}

void add_compile_flags(CLI::App& command, CompileOptions& options) {
  command.add_flag("--faithful", options.faithful,
                   "render ids and special tokens byte for byte as the family's reference does");
  command
      .add_option_function<std::string>(
          "--questions",
          [&options](const std::string& value) { options.questions_alone = value == "alone"; },
          "together: as trained; alone: one question per prompt, where a family shows all of them")
      ->check(CLI::IsMember({"together", "alone"}))
      ->default_str("together");
  command
      .add_option_function<std::string>(
          "--on-truncation",
          [&options](const std::string& value) { options.refuse_truncation = value == "refuse"; },
          "report: where training cut long texts, cut alike and say so; refuse: answer no request "
          "that would be cut")
      ->check(CLI::IsMember({"report", "refuse"}))
      ->default_str("report");
}

Result<std::string> read_input(const std::string& path) {
  std::ifstream file;
  if (path != "-") file.open(path, std::ios::binary);
  std::istream& stream = path == "-" ? std::cin : file;
  std::string content;
  std::vector<char> piece(1 << 16);
  while (stream) {
    stream.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    content.append(piece.data(), static_cast<std::size_t>(stream.gcount()));
  }
  ADJ_TRY_DONE(check_read(stream, path));
  return content;
}

Status check_read(const std::istream& stream, const std::string& path) {
  if (stream.eof() && !stream.bad()) return Done{};
  return Error{ErrorKind::bad_request, path + ": cannot read: " + std::strerror(errno)};
}

}  // namespace adjudge::app
