#include "text/metaspace_encoder.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/try.h"
#include "text/pair_merger.h"

namespace adjudge::text {
namespace {

constexpr std::string_view kVisibleSpace = "\u2581";

// "<0x0A>"
std::string byte_name(unsigned char byte) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  return std::string("<0x") + kDigits[byte >> 4] + kDigits[byte & 15] + ">";
}

using ByteTokens = std::array<std::optional<Token>, 256>;

ByteTokens find_byte_tokens(const Vocabulary& vocabulary) {
  ByteTokens tokens;
  for (std::size_t byte = 0; byte < tokens.size(); ++byte) {
    tokens[byte] = vocabulary.find(byte_name(static_cast<unsigned char>(byte)));
  }
  return tokens;
}

// Bytes without a token are dropped, as the reference does.
void append_bytes(std::string_view text, const ByteTokens& byte_tokens, Tokens& out) {
  for (const char byte : text) {
    if (const auto token = byte_tokens[static_cast<unsigned char>(byte)]) out.push_back(*token);
  }
}

int character_bytes(std::string_view text, std::size_t begin) {
  std::size_t end = begin + 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
  return static_cast<int>(end - begin);
}

// The end of the word or of the line feeds at `begin`.
std::size_t word_end(std::string_view text, std::size_t begin) {
  if (text[begin] == '\n') return std::min(text.find_first_not_of('\n', begin), text.size());
  const std::size_t first = begin + at(character_bytes(text, begin));
  const std::size_t end = std::min(text.find(kVisibleSpace, first), text.size());
  return std::min(text.substr(0, end).find('\n', begin), end);
}

// With visible spaces, one of them at the start of each line.
std::string with_visible_spaces(std::string_view run) {
  std::string text;
  bool line_begins = true;
  for (std::size_t i = 0; i < run.size(); ++i) {
    const bool is_space = run[i] == ' ' || run.substr(i).starts_with(kVisibleSpace);
    if (line_begins && run[i] != '\n' && !is_space) text += kVisibleSpace;
    line_begins = run[i] == '\n';
    if (run[i] == ' ') {
      text += kVisibleSpace;
    } else {
      text += run[i];
    }
  }
  return text;
}

class MetaspaceEncoder final : public RunEncoder {
 public:
  MetaspaceEncoder(const Vocabulary& vocabulary, PairMerger merger, const ByteTokens& byte_tokens)
      : vocabulary_(vocabulary), merger_(std::move(merger)), byte_tokens_(byte_tokens) {}

  void encode(std::string_view run, Tokens& out) const override {
    const std::string text = with_visible_spaces(run);
    PairMerger::Scratch scratch;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = word_end(text, begin);
      encode_word(std::string_view(text).substr(begin, end - begin), scratch, out);
      begin = end;
    }
  }

  std::string text_of(std::string_view stored) const override {
    for (int byte = 0; stored.starts_with("<0x") && byte < 256; ++byte) {
      if (stored == byte_name(static_cast<unsigned char>(byte))) {
        return std::string(1, static_cast<char>(byte));
      }
    }
    std::string text(stored);
    for (std::size_t i = text.find(kVisibleSpace); i != std::string::npos;
         i = text.find(kVisibleSpace, i + 1)) {
      text.replace(i, kVisibleSpace.size(), " ");
    }
    return text;
  }

 private:
  // The place of a character without a token: its bytes are found again by where it stands.
  static PairMerger::Symbol unknown_at(std::size_t offset) { return -1 - static_cast<int>(offset); }

  void encode_word(std::string_view word, PairMerger::Scratch& scratch, Tokens& out) const {
    if (word.front() == '\n') {
      if (const auto token = vocabulary_.find(word)) return out.push_back(*token);
    }
    scratch.parts.clear();
    for (std::size_t begin = 0; begin < word.size();) {
      const int bytes = character_bytes(word, begin);
      const auto symbol = merger_.find(word.substr(begin, at(bytes)));
      PairMerger::push(symbol.value_or(unknown_at(begin)), bytes, scratch);
      begin += at(bytes);
    }
    merger_.merge(scratch);
    for (int i = 0; i >= 0; i = scratch.parts[at(i)].next) {
      const PairMerger::Part& part = scratch.parts[at(i)];
      if (part.symbol >= 0) {
        merger_.append(part.symbol, out);
      } else {
        append_bytes(word.substr(at(-1 - part.symbol), at(part.bytes)), byte_tokens_, out);
      }
    }
  }

  const Vocabulary& vocabulary_;
  PairMerger merger_;
  ByteTokens byte_tokens_;
};

}  // namespace

Result<std::unique_ptr<const RunEncoder>> read_metaspace_encoder(const gguf::Metadata& metadata,
                                                                 const Vocabulary& vocabulary) {
  const ByteTokens byte_tokens = find_byte_tokens(vocabulary);
  const auto tokens_of = [&](std::string_view text) {
    Tokens tokens;
    append_bytes(text, byte_tokens, tokens);
    return tokens;
  };
  ADJ_TRY(PairMerger merger, PairMerger::read(metadata, vocabulary, {}, tokens_of));
  return std::unique_ptr<const RunEncoder>(
      std::make_unique<MetaspaceEncoder>(vocabulary, std::move(merger), byte_tokens));
}

}  // namespace adjudge::text
