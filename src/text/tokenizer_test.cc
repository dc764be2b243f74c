#include "text/tokenizer.h"

#include <gtest/gtest.h>

#include <ctime>
#include <map>
#include <random>
#include <thread>

#include "base/size.h"
#include "gguf/file.h"
#include "support/support.h"
#include "text/fake_vocabulary.h"
#include "text/split.h"

namespace adjudge::text {
namespace {

const std::map<std::string, std::string> kModelOfSplit = {
    {"qwen2", "tiny-openjev-f32"},     {"qwen35", "tiny-openjev-f32"},
    {"llama-bpe", "tiny-openjev-f32"}, {"gpt-2", "tiny-openjev-f32"},
    {"modern-bert", "tiny-laya-f32"},  {"mmbert", "tiny-julia-f32"}};

std::unique_ptr<Tokenizer> open_tiny(const std::string& model, std::string_view split = {}) {
  const auto file = gguf::File::open(testing::tiny_model(model)).value();
  return Tokenizer::open(file->metadata(), split).value();
}

std::unique_ptr<Tokenizer> open(const FakeVocabulary& fake) {
  return Tokenizer::open(fake.metadata()).value();
}

std::string refusal(const gguf::Metadata& metadata) {
  const auto opened = Tokenizer::open(metadata);
  if (opened.ok()) return "accepted";
  EXPECT_EQ(opened.error().kind, ErrorKind::bad_model);
  return opened.error().message();
}

Tokens ids_of(const json::Value& list) {
  Tokens ids;
  for (const json::Value& item : list.items) ids.push_back(std::stoi(item.text));
  return ids;
}

std::string text_of(const Tokenizer& tokenizer, const Tokens& tokens) {
  std::string text;
  for (const Token token : tokens) text += tokenizer.text_of(token);
  return text;
}

// What the process has computed for; other processes do not count.
template <class Work>
double seconds(Work work) {
  const std::clock_t begin = std::clock();
  work();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

TEST(Tokenizer, GivesTheRecordedIdsOfTheReference) {
  std::map<std::string, std::unique_ptr<Tokenizer>> tokenizers;
  for (const json::Value& line : testing::golden_lines("tokenize")) {
    const std::string& model = line.find("model")->text;
    auto& tokenizer = tokenizers[model];
    if (tokenizer == nullptr) tokenizer = open_tiny(model);
    const std::string& text = line.find("text")->text;
    EXPECT_EQ(tokenizer->encode(text, true), ids_of(*line.find("ids"))) << model << ": " << text;
    EXPECT_EQ(tokenizer->encode(text, false), ids_of(*line.find("ids_plain")))
        << model << ": " << text;
  }
  EXPECT_EQ(tokenizers.size(), 3u);
}

TEST(Tokenizer, GivesTheReferencesIdsOfTrickyTextsInEverySplit) {
  for (const auto& [split, model] : kModelOfSplit) {
    const auto tokenizer = open_tiny(model, split);
    EXPECT_EQ(tokenizer->split_name(), split);
    for (const json::Value& line : testing::golden_lines("../tokenizer/" + split)) {
      const std::string& text = line.find("text")->text;
      const json::Value& ids = *line.find("ids");
      const json::Value* plain = line.find("ids_plain");
      EXPECT_EQ(tokenizer->encode(text, true), ids_of(ids)) << split << ": " << text;
      EXPECT_EQ(tokenizer->encode(text, false), ids_of(plain == nullptr ? ids : *plain))
          << split << ": " << text;
    }
  }
}

TEST(Tokenizer, TokensSpellTheTextTheyCameFrom) {
  for (const auto& [split, model] : kModelOfSplit) {
    if (split == kMetaspaceSplit) continue;  // every line begins with a space of its own
    const auto tokenizer = open_tiny(model, split);
    for (const json::Value& line : testing::golden_lines("../tokenizer/" + split)) {
      const std::string& text = line.find("text")->text;
      EXPECT_EQ(text_of(*tokenizer, tokenizer->encode(text, true)), text) << split;
      EXPECT_EQ(text_of(*tokenizer, tokenizer->encode(text, false)), text) << split;
    }
  }
}

TEST(Tokenizer, BytesThatAreNotUtf8AreReadAsReplacementCharacters) {
  const auto tokenizer = open_tiny("tiny-openjev-f32");
  EXPECT_EQ(tokenizer->encode("a\xFF\x80 b\xE4\xB8", true),
            tokenizer->encode("a\uFFFD\uFFFD b\uFFFD\uFFFD", true));
  EXPECT_EQ(tokenizer->encode("\xC1\x81", true), tokenizer->encode("A", true));
}

TEST(Tokenizer, AnyBytesAreEncoded) {
  std::mt19937 random(3);
  for (const auto& [split, model] : kModelOfSplit) {
    const auto tokenizer = open_tiny(model, split);
    for (int i = 0; i < 2000; ++i) {
      std::string bytes;
      for (std::size_t left = random() % 24; left > 0; --left) {
        bytes.push_back(static_cast<char>(random()));
      }
      for (const Token token : tokenizer->encode(bytes, true)) {
        ASSERT_LT(token, tokenizer->vocabulary_count());
      }
    }
  }
}

TEST(Tokenizer, PiecesAreReadAsOneTextButForControlTokens) {
  const auto tokenizer = open_tiny("tiny-openjev-f32");
  const Token end = tokenizer->find("<|im_end|>").value();
  const Token think = tokenizer->find("<think>").value();
  const auto encode = [&](std::vector<Piece> pieces) { return tokenizer->encode(pieces); };

  EXPECT_EQ(encode({{"Hel", true}, {"lo wor", false}, {"ld", true}}),
            tokenizer->encode("Hello world", true));
  EXPECT_EQ(encode({{"<|im_end|>", true}}), Tokens{end});
  EXPECT_EQ(encode({{"<|im_end|>", false}}), tokenizer->encode("<|im_end|>", false));
  EXPECT_EQ(encode({{"<|im_", true}, {"end|>", true}}), tokenizer->encode("<|im_end|>", false));
  EXPECT_EQ(encode({{"<|im_", false}, {"end|>", true}}), tokenizer->encode("<|im_end|>", false));
  EXPECT_EQ(encode({{"<th", true}, {"ink>", false}}), Tokens{think});
  EXPECT_EQ(encode({{"", true}, {"", false}}), Tokens{});
  EXPECT_EQ(encode({}), Tokens{});
}

TEST(Tokenizer, FindsTokensByStoredTextAndSinglesByWhatTheyEncode) {
  const auto tokenizer = open_tiny("tiny-openjev-f32");
  EXPECT_EQ(tokenizer->text_of(tokenizer->single(" a").value()), " a");
  EXPECT_EQ(tokenizer->find("Ġa"), tokenizer->single(" a"));
  EXPECT_FALSE(tokenizer->find(" a").has_value());
  EXPECT_FALSE(tokenizer->single("<|im_end|>").has_value());
  EXPECT_FALSE(tokenizer->single("").has_value());
  const Token end = tokenizer->find("<|im_end|>").value();
  EXPECT_EQ(tokenizer->type(end), TokenType::control);
  EXPECT_EQ(tokenizer->text_of(end), "<|im_end|>");
}

TEST(Tokenizer, EveryNormalTokenIsFoundAgain) {
  const auto tokenizer = open_tiny("tiny-openjev-f32");
  int singles = 0;
  for (Token token = 0; token < tokenizer->vocabulary_count(); ++token) {
    if (tokenizer->type(token) != TokenType::normal) continue;
    if (tokenizer->single(tokenizer->text_of(token)) == token) ++singles;
  }
  EXPECT_GT(singles, 1000);
}

TEST(Tokenizer, BosIsWhatTheFileAsksFor) {
  FakeVocabulary fake;
  const auto bos = [&](std::string_view pre, std::optional<bool> adds, std::int64_t token) {
    fake.pre = pre;
    gguf::Metadata metadata = fake.metadata();
    if (adds.has_value()) metadata.add("tokenizer.ggml.add_bos_token", *adds);
    metadata.add("tokenizer.ggml.bos_token_id", token);
    return Tokenizer::open(metadata).value()->bos();
  };
  EXPECT_EQ(bos("qwen2", std::nullopt, 5), std::nullopt);
  EXPECT_EQ(bos("qwen2", true, 5), 5);
  EXPECT_EQ(bos("llama-bpe", std::nullopt, 5), 5);
  EXPECT_EQ(bos("llama-bpe", false, 5), std::nullopt);
  fake.pre = "llama-bpe";
  EXPECT_EQ(open(fake)->bos(), std::nullopt);  // no key names the token

  gguf::Metadata beyond = fake.metadata();
  beyond.add("tokenizer.ggml.bos_token_id", std::int64_t{256});
  EXPECT_NE(refusal(beyond).find("tokenizer.ggml.bos_token_id"), std::string::npos);
}

TEST(Tokenizer, AnUnknownKindIsRefusedWithWhatIsSupported) {
  FakeVocabulary fake;
  fake.pre = "no-such-split";
  EXPECT_NE(refusal(fake.metadata())
                .find("\"tokenizer.ggml.pre\": found \"no-such-split\", "
                      "supported: qwen2, deepseek-r1-qwen"),
            std::string::npos);
  fake.model = "llama";
  EXPECT_NE(
      refusal(fake.metadata()).find("\"tokenizer.ggml.model\": found \"llama\", supported: gpt2"),
      std::string::npos);
  EXPECT_NE(refusal(gguf::Metadata()).find("tokenizer.ggml.model"), std::string::npos);
}

TEST(Tokenizer, AGivenSplitReplacesTheFilesOwn) {
  FakeVocabulary fake;
  fake.pre = "no-such-split";
  EXPECT_EQ(Tokenizer::open(fake.metadata(), "lfm2").value()->split_name(), "llama-bpe");
}

TEST(Tokenizer, ModernBertModelsStripBeforeTheMask) {
  FakeVocabulary fake;
  fake.pre = "modern-bert";
  fake.add("[MASK]", TokenType::control);
  EXPECT_EQ(open(fake)->encode("a [MASK]", true).size(), 3u);
  fake.name = "My Modern-BERT base";
  EXPECT_EQ(open(fake)->encode("a [MASK]", true).size(), 2u);
}

TEST(Tokenizer, BlanksNoLongerThanTheMaskAreStrippedBeforeIt) {
  const auto file = gguf::File::open(testing::tiny_model("tiny-laya-f32")).value();
  gguf::Metadata named;
  for (const auto& [key, value] : file->metadata().entries()) {
    if (key != "general.name") named.add(key, value);
  }
  named.add("general.name", std::string_view("base-modern-bert"));
  const auto tokenizer = Tokenizer::open(named).value();
  const auto encode = [&](int blanks) {
    return tokenizer->encode("a" + std::string(at(blanks), ' ') + "[MASK] b", true);
  };
  // Recorded: up to 24 blanks are one token, and the reference takes those longer than "[MASK]"
  // first.
  for (const int blanks : {0, 1, 2, 5, 6}) EXPECT_EQ(encode(blanks), (Tokens{66, 1175, 270}));
  EXPECT_EQ(encode(7), (Tokens{66, 1162, 1175, 270}));
  EXPECT_EQ(encode(25), (Tokens{66, 1145, 1175, 270}));
}

TEST(Tokenizer, TimeGrowsWithTheTextAndNotFaster) {
  const auto qwen = open_tiny("tiny-openjev-f32");
  const auto bert = open_tiny("tiny-laya-f32");
  const auto metaspace = open_tiny("tiny-julia-f32");
  std::mt19937 random(4);
  const auto letters = [&] { return static_cast<char>('a' + random() % 26); };
  const std::string patterns[] = {"x", " ", "\n", "<|im_", "'", "<|im_end|>", "\t ", "\u0301"};
  std::vector<std::string> texts;
  for (const std::string& pattern : patterns) {
    std::string text;
    while (text.size() < (std::size_t{1} << 20)) text += pattern;
    texts.push_back(text);
  }
  texts.emplace_back();
  while (texts.back().size() < (std::size_t{1} << 20)) texts.back().push_back(letters());
  for (const auto* tokenizer : {qwen.get(), bert.get(), metaspace.get()}) {
    for (const std::string& text : texts) {
      const std::string_view part = std::string_view(text).substr(0, text.size() / 8);
      const double small = seconds([&] { tokenizer->encode(part, true); });
      const double whole = seconds([&] { tokenizer->encode(text, true); });
      // Eight times the text; quadratic time would be sixty-four times as long.
      EXPECT_LT(whole, 24 * small + 0.05) << text.substr(0, 16);
    }
  }
}

TEST(Tokenizer, ThreadsShareOneTokenizer) {
  const auto shared = open_tiny("tiny-openjev-f32");
  const auto lines = testing::golden_lines("../tokenizer/qwen35");
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (const json::Value& line : lines) {
        EXPECT_EQ(shared->encode(line.find("text")->text, true), ids_of(*line.find("ids")));
      }
    });
  }
}

}  // namespace
}  // namespace adjudge::text
