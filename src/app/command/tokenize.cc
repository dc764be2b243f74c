// adjudge tokenize: JSON strings in, one a line; arrays of token ids out.
#include <CLI/CLI.hpp>
#include <iostream>

#include "app/catalogue.h"
#include "app/command.h"
#include "base/try.h"
#include "gguf/file.h"
#include "json/value.h"
#include "text/tokenizer.h"

namespace adjudge::app {

namespace {

struct TokenizeFlags {
  std::string model;
  std::string split;
  bool special = false;
};

Result<std::unique_ptr<text::Tokenizer>> open_tokenizer(const TokenizeFlags& flags,
                                                        std::unique_ptr<gguf::File>& file) {
  ADJ_TRY(const std::string path, resolve_model(flags.model));
  ADJ_TRY(file, gguf::File::open(path));
  return text::Tokenizer::open(file->metadata(), flags.split);
}

Result<ExitStatus> run_tokenize(const TokenizeFlags& flags) {
  std::unique_ptr<gguf::File> file;  // the tokenizer may borrow from it
  ADJ_TRY(const std::unique_ptr<text::Tokenizer> tokenizer, open_tokenizer(flags, file));
  ExitStatus status = ExitStatus::success;
  for (std::string line; std::getline(std::cin, line);) {
    const Result<json::Value> text = json::parse(line);
    if (!text.ok() || !text.value().is_string()) {
      status =
          report(text.ok() ? Error{ErrorKind::bad_request, "a line is not a JSON string: " + line}
                           : text.error());
      std::cout << "null\n";
      continue;
    }
    std::cout << "[";
    const char* separator = "";
    for (const Token token : tokenizer->encode(text.value().text, flags.special)) {
      std::cout << separator << token;
      separator = ", ";
    }
    std::cout << "]\n";
  }
  return status;
}

}  // namespace

void add_tokenize_command(CLI::App& program, Run& chosen) {
  auto flags = std::make_shared<TokenizeFlags>();
  CLI::App* command = program.add_subcommand(
      "tokenize", "turn JSON strings on standard input, one a line, into arrays of token ids");
  command->add_option("--model", flags->model, "a GGUF file, or the name of a pulled model")
      ->required();
  command->add_option("--split", flags->split,
                      "split text this way instead of as tokenizer.ggml.pre says");
  command->add_flag("--special", flags->special, "recognise special tokens in the texts");
  run_when_chosen(*command, chosen, [flags] { return run_tokenize(*flags); });
}

}  // namespace adjudge::app
