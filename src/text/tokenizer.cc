#include "text/tokenizer.h"

#include <algorithm>

#include "base/try.h"
#include "gguf/quoted.h"
#include "text/byte_alphabet.h"
#include "text/byte_pair_merger.h"
#include "text/metaspace_encoder.h"
#include "text/run_encoder.h"
#include "text/special_matcher.h"
#include "text/split.h"
#include "text/unicode.h"
#include "text/vocabulary.h"

namespace adjudge::text {
namespace {

constexpr std::string_view kModel = "tokenizer.ggml.model";
constexpr std::string_view kByteLevelModel = "gpt2";
constexpr std::string_view kPre = "tokenizer.ggml.pre";
constexpr std::string_view kAddsBos = "tokenizer.ggml.add_bos_token";
constexpr std::string_view kBos = "tokenizer.ggml.bos_token_id";

Error unsupported(std::string_view key, std::string_view found, const std::string& supported) {
  return Error{ErrorKind::bad_model, "key " + gguf::quoted(key) + ": found " + gguf::quoted(found) +
                                         ", supported: " + supported};
}

// Byte-level encoding: the split's pieces, each merged from its bytes.
class ByteLevelEncoder final : public RunEncoder {
 public:
  ByteLevelEncoder(const Split& split, BytePairMerger merger)
      : split_(split), merger_(std::move(merger)) {}

  void encode(std::string_view run, Tokens& out) const override {
    BytePairMerger::Scratch scratch;
    for (std::size_t begin = 0; begin < run.size();) {
      const std::size_t end = split_.piece_end(run, begin);
      merger_.encode(run.substr(begin, end - begin), scratch, out);
      begin = end;
    }
  }

  std::string text_of(std::string_view stored) const override { return bytes_of_letters(stored); }

 private:
  const Split& split_;
  BytePairMerger merger_;
};

struct TokenizerParts {
  const Split* split = nullptr;
  std::unique_ptr<const Vocabulary>
      vocabulary;  // at a fixed address: the other parts point into it
  SpecialMatcher specials;
  std::unique_ptr<const RunEncoder> encoder;
  std::optional<Token> bos;
};

class FileTokenizer final : public Tokenizer {
 public:
  explicit FileTokenizer(TokenizerParts parts) : parts_(std::move(parts)) {}

  Tokens encode(std::span<const Piece> pieces) const override {
    std::string joined;
    std::vector<Stretch> special;
    for (const Piece& piece : pieces) {
      if (piece.parses_special)
        special.push_back({joined.size(), joined.size() + piece.text.size()});
      joined += piece.text;
    }
    const std::string_view text = joined;
    Tokens tokens;
    tokens.reserve(text.size() / 3);  // a token of English text has four bytes
    std::size_t begin = 0;
    for (const Cut& cut : parts_.specials.find(text, special)) {
      encode_run(text.substr(begin, cut.stretch.begin - begin), tokens);
      tokens.push_back(cut.token);
      begin = cut.stretch.end;
    }
    encode_run(text.substr(begin), tokens);
    return tokens;
  }

  int vocabulary_count() const override { return parts_.vocabulary->count(); }
  std::string_view split_name() const override { return parts_.split->name; }

  TokenType type(Token token) const override {
    CHECK(parts_.vocabulary->has(token));
    return parts_.vocabulary->type(token);
  }

  std::optional<Token> find(std::string_view text) const override {
    return parts_.vocabulary->find(text);
  }

  std::optional<Token> single(std::string_view text) const override {
    const Tokens tokens = Tokenizer::encode(text, false);
    return tokens.size() == 1 ? std::optional<Token>(tokens.front()) : std::nullopt;
  }

  std::string text_of(Token token) const override {
    const std::string_view stored = parts_.vocabulary->text(token);
    switch (type(token)) {
      case TokenType::unknown:
      case TokenType::control:
      case TokenType::user_defined:
        return std::string(stored);
      case TokenType::normal:
      case TokenType::unused:
      case TokenType::byte:
        break;
    }
    return parts_.encoder->text_of(stored);
  }

  std::optional<Token> bos() const override { return parts_.bos; }

 private:
  // `run` is what lies between two recognised tokens.
  void encode_run(std::string_view run, Tokens& out) const {
    if (run.empty()) return;
    const std::optional<std::string> repaired = repair(run);
    parts_.encoder->encode(repaired.has_value() ? std::string_view(*repaired) : run, out);
  }

  TokenizerParts parts_;
};

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& byte : lower) {
    if (byte >= 'A' && byte <= 'Z') byte = static_cast<char>(byte | 0x20);
  }
  return lower;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

Result<StripRules> read_strip_rules(const gguf::Metadata& metadata, std::string_view pre) {
  ADJ_TRY(const auto stored_name, metadata.find_string("general.name"));
  const std::string name = lower_case(stored_name.value_or(""));
  if (pre.starts_with("jina-v2-") || pre == kMetaspaceSplit)
    return StripRules{.strips_left = "<mask>"};
  if (contains(name, "phi-3") || contains(name, "phi3")) {
    return StripRules{.all_strip_right = true, .unless = {"<unk>", "<s>", "<|endoftext|>"}};
  }
  if (contains(name, "modern-bert")) return StripRules{.strips_left = "[MASK]"};
  return StripRules{};
}

Result<std::unique_ptr<const RunEncoder>> read_encoder(const gguf::Metadata& metadata,
                                                       const Split& split,
                                                       const Vocabulary& vocabulary) {
  if (split.piece_end == nullptr) return read_metaspace_encoder(metadata, vocabulary);
  ADJ_TRY(BytePairMerger merger,
          BytePairMerger::read(metadata, vocabulary, split.takes_whole_words));
  return std::unique_ptr<const RunEncoder>(
      std::make_unique<ByteLevelEncoder>(split, std::move(merger)));
}

Result<std::optional<Token>> read_bos(const gguf::Metadata& metadata, const Split& split,
                                      int token_count) {
  ADJ_TRY(const std::optional<bool> adds_bos, metadata.find_boolean(kAddsBos));
  if (!adds_bos.value_or(split.adds_bos) || !metadata.has(kBos)) return std::optional<Token>{};
  ADJ_TRY(const int bos, metadata.integer(kBos, 0, token_count - 1));
  return std::optional<Token>{bos};
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> Tokenizer::open(const gguf::Metadata& metadata,
                                                   std::string_view forced_split) {
  ADJ_TRY(const std::string_view model, metadata.string(kModel));
  if (model != kByteLevelModel) return unsupported(kModel, model, std::string(kByteLevelModel));
  std::string_view pre = forced_split;
  if (pre.empty()) {
    ADJ_TRY(pre, metadata.string(kPre));
  }
  const Split* split = find_split(pre);
  if (split == nullptr) return unsupported(kPre, pre, split_names());

  ADJ_TRY(Vocabulary read, Vocabulary::read(metadata));
  auto vocabulary = std::make_unique<const Vocabulary>(std::move(read));
  ADJ_TRY(const StripRules rules, read_strip_rules(metadata, pre));
  ADJ_TRY(std::unique_ptr<const RunEncoder> encoder, read_encoder(metadata, *split, *vocabulary));
  ADJ_TRY(const std::optional<Token> bos, read_bos(metadata, *split, vocabulary->count()));
  SpecialMatcher specials(*vocabulary, rules);
  return std::unique_ptr<Tokenizer>(std::make_unique<FileTokenizer>(
      TokenizerParts{split, std::move(vocabulary), std::move(specials), std::move(encoder), bos}));
}

}  // namespace adjudge::text
