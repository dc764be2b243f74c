#include "text/vocabulary.h"

#include <array>
#include <bit>
#include <functional>

#include "base/try.h"
#include "gguf/quoted.h"

namespace adjudge::text {
namespace {

constexpr std::string_view kTokens = "tokenizer.ggml.tokens";
constexpr std::string_view kTypes = "tokenizer.ggml.token_type";

// Texts that end a turn or an answer: always control tokens to the reference.
constexpr auto kEndTexts = std::to_array<std::string_view>({
    "<|eot_id|>",
    "<|im_end|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|flush|>",
    "<|calls|>",
    "<end_of_turn>",
    "<|endoftext|>",
    "</s>",
    "<|eom_id|>",
    "<EOT>",
    "_<EOT>",
    "[EOT]",
    "[EOS]",
    "<|end_of_text|>",
    "<end_of_utterance>",
    "<eos>",
    "<turn|>",
    "<|tool_response>",
    "<｜end▁of▁sentence｜>",
    "[e~[",
});

// The roles of a fill-in prompt. Where no key names the role's token, the reference takes one it
// knows by its text and makes it a control token.
struct FillInRole {
  std::array<std::string_view, 2> keys;  // under tokenizer.ggml; the second is the old name
  std::array<std::string_view, 8> texts;
};

constexpr auto kFillInRoles = std::to_array<FillInRole>({
    {{"fim_pre_token_id", "prefix_token_id"},
     {"<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>", "<｜fim▁begin｜>", "<PRE>", "▁<PRE>",
      "<|code_prefix|>", "<|prefix|>"}},
    {{"fim_suf_token_id", "suffix_token_id"},
     {"<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>", "<｜fim▁hole｜>", "<SUF>", "▁<SUF>",
      "<|code_suffix|>", "<|suffix|>"}},
    {{"fim_mid_token_id", "middle_token_id"},
     {"<|fim_middle|>", "<fim-middle>", "<fim_middle>", "<｜fim▁end｜>", "<MID>", "▁<MID>",
      "<|code_middle|>", "<|middle|>"}},
    {{"fim_pad_token_id"}, {"<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"}},
    {{"fim_rep_token_id"}, {"<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"}},
    {{"fim_sep_token_id"}, {"<|file_sep|>"}},
});

// Shown in every rendered text by the reference, so no control tokens.
constexpr auto kShownTexts =
    std::to_array<std::string_view>({"<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"});

std::uint32_t hash_of(std::string_view text) {
  return static_cast<std::uint32_t>(std::hash<std::string_view>{}(text));
}

Error bad_key(std::string_view key, const std::string& fault) {
  return Error{ErrorKind::bad_model, "key " + gguf::quoted(key) + ": " + fault};
}

}  // namespace

Result<Vocabulary> Vocabulary::read(const gguf::Metadata& metadata) {
  Vocabulary vocabulary;
  ADJ_TRY_DONE(vocabulary.read_texts(metadata));
  ADJ_TRY_DONE(vocabulary.read_types(metadata));
  ADJ_TRY_DONE(vocabulary.correct_types(metadata));
  return vocabulary;
}

std::optional<Token> Vocabulary::find(std::string_view text) const {
  const Token token = slots_[slot_of(text, hash_of(text))].token;
  return token < 0 ? std::nullopt : std::optional<Token>(token);
}

// Where the text is, or the free slot where it would be.
std::size_t Vocabulary::slot_of(std::string_view text, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  while (slots_[slot].token >= 0 &&
         (slots_[slot].hash != hash || texts_[at(slots_[slot].token)] != text)) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

Status Vocabulary::read_texts(const gguf::Metadata& metadata) {
  ADJ_TRY(const std::vector<std::string_view> stored, metadata.strings(kTokens));
  if (stored.empty()) return bad_key(kTokens, "the vocabulary is empty");
  texts_.reserve(stored.size());
  slots_.resize(std::bit_ceil(2 * stored.size()));
  for (const std::string_view text : stored) {
    const Token token = count();
    // An empty text could be matched anywhere; the reference gives it this name.
    texts_.push_back(text.empty() ? "[EMPTY_" + std::to_string(token) + "]" : std::string(text));
    const std::uint32_t hash = hash_of(texts_.back());
    Slot& slot = slots_[slot_of(texts_.back(), hash)];
    if (slot.token >= 0) {
      return bad_key(kTokens, "tokens " + std::to_string(slot.token) + " and " +
                                  std::to_string(token) + " are both " +
                                  gguf::quoted(texts_.back()));
    }
    slot = {hash, token};
  }
  return Done{};
}

Status Vocabulary::read_types(const gguf::Metadata& metadata) {
  types_.assign(texts_.size(), TokenType::normal);
  if (!metadata.has(kTypes)) return Done{};
  ADJ_TRY(const std::vector<std::int64_t> stored, metadata.integers(kTypes));
  if (stored.size() != texts_.size()) {
    return bad_key(kTypes, "found " + std::to_string(stored.size()) + " types, expected one for " +
                               "each of " + std::to_string(texts_.size()) + " tokens");
  }
  for (std::size_t i = 0; i < stored.size(); ++i) {
    if (stored[i] < static_cast<int>(TokenType::normal) ||
        stored[i] > static_cast<int>(TokenType::byte)) {
      return bad_key(kTypes, "found type " + std::to_string(stored[i]) + " of token " +
                                 std::to_string(i) + ", expected 1 to 6");
    }
    types_[i] = static_cast<TokenType>(stored[i]);
  }
  return Done{};
}

Status Vocabulary::correct_types(const gguf::Metadata& metadata) {
  for (const FillInRole& role : kFillInRoles) {
    bool named = false;
    for (const std::string_view key : role.keys) {
      if (key.empty()) continue;
      ADJ_TRY(const auto token, metadata.find_integer("tokenizer.ggml." + std::string(key)));
      named = named || (token.has_value() && *token >= 0 && *token < count());
    }
    for (const std::string_view text : role.texts) {
      if (named) break;
      named = find(text).has_value();
      set_type(text, TokenType::control);
    }
  }
  for (const std::string_view text : kEndTexts) set_type(text, TokenType::control);
  for (const std::string_view text : kShownTexts) set_type(text, TokenType::user_defined);

  const auto has = [this](std::string_view text) { return find(text).has_value(); };
  // In vocabularies with tool calls of these two kinds <|end|> ends a message, not a turn.
  const bool calls = has("<|call|>") || has("<|calls|>");
  if (calls && (has("<|return|>") || has("<|flush|>"))) {
    set_type("<|end|>", TokenType::user_defined);
  }
  if (has("<|tool_response>")) set_type("</s>", TokenType::normal);
  return Done{};
}

void Vocabulary::set_type(std::string_view text, TokenType type) {
  if (const auto token = find(text)) types_[at(*token)] = type;
}

}  // namespace adjudge::text
