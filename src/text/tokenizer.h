// Text to token ids and back, exactly as the model's own tokenizer does it.
// Byte-pair merging of GGUF vocabularies: byte-level (tokenizer.ggml.model = gpt2) with the split
// that tokenizer.ggml.pre names, or with blanks as U+2581 (metaspace_encoder.h). Reference:
// llama.cpp src/llama-vocab.cpp and src/unicode.cpp.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "adjudge/result.h"
#include "base/token.h"
#include "gguf/metadata.h"

namespace adjudge::text {

// A stretch of one text. Special tokens are recognised only inside stretches that ask for it, and
// never across a border; user-defined tokens (type 4: <think>, runs of spaces) are recognised
// everywhere. Everything between two recognised tokens is split and merged as one run, whatever the
// borders.
struct Piece {
  std::string_view text;
  bool parses_special = false;
};

enum class TokenType {
  normal = 1,
  unknown = 2,
  control = 3,
  user_defined = 4,
  unused = 5,
  byte = 6
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // Opens the tokenizer a file describes. `split` overrides tokenizer.ggml.pre when not empty.
  static Result<std::unique_ptr<Tokenizer>> open(const gguf::Metadata& metadata,
                                                 std::string_view split = {});

  // The ids of the pieces, read as one text. Never adds BOS, EOS or SEP.
  virtual Tokens encode(std::span<const Piece> pieces) const = 0;
  Tokens encode(std::string_view text, bool parses_special) const {
    const Piece piece{text, parses_special};
    return encode(std::span<const Piece>(&piece, 1));
  }

  virtual int vocabulary_count() const = 0;
  virtual std::string_view split_name() const = 0;  // "qwen2", "llama-bpe", ...
  virtual TokenType type(Token token) const = 0;

  // The token whose stored text is exactly `text` ("<|im_end|>"; normal tokens are stored in the
  // byte alphabet).
  virtual std::optional<Token> find(std::string_view text) const = 0;
  // The token that `text` encodes to when it stands alone, if it is one.
  virtual std::optional<Token> single(std::string_view text) const = 0;
  // The bytes a token stands for; a control token's own text.
  virtual std::string text_of(Token token) const = 0;

  // What the file asks to put in front of chat prompts; nullopt: nothing.
  virtual std::optional<Token> bos() const = 0;
};

}  // namespace adjudge::text
