// The recorded prompts of an independent implementation, byte for byte and id for id; special
// tokens in user text included, which the reference parses where we do not by default.
#include "family/test_model.h"

namespace adjudge {
namespace {

using namespace testing;

// A null level, which our requests may not have; marks that only llama.cpp's own template has to be
// protected from.
bool departs(const std::string& id) {
  return id.starts_with("score_odd_levels") || id.starts_with("special_clef");
}

std::vector<std::string> texts_of(const std::vector<json::Value>& numbers) {
  std::vector<std::string> texts;
  for (const json::Value& number : numbers) texts.push_back(number.text);
  return texts;
}

std::vector<std::string> texts_of(const Tokens& tokens) {
  std::vector<std::string> texts;
  for (const Token token : tokens) texts.push_back(std::to_string(token));
  return texts;
}

// Recorded whole, or piece by piece with the number of its tokens.
std::string text_of(const json::Value& prompt) {
  if (const json::Value* text = prompt.find("text")) return text->text;
  std::string text;
  for (const json::Value& piece : prompt.find("pieces")->items) text += piece.items[0].text;
  return text;
}

// "role x count" of every run; none where roles are not recorded.
std::vector<std::string> roles_of(const json::Value& prompt) {
  std::vector<std::string> runs;
  const json::Value* roles = prompt.find("roles");
  if (roles == nullptr) return runs;
  for (const json::Value& run : roles->items) {
    runs.push_back(run.items[0].text + " x " + run.items[1].text);
  }
  return runs;
}

std::vector<std::string> roles_of(const PromptNote& note) {
  std::vector<std::string> runs;
  for (const RoleRun& run : note.roles) {
    runs.push_back(std::to_string(run.role) + " x " + std::to_string(run.token_count));
  }
  return runs;
}

class Golden : public ::testing::TestWithParam<const char*> {};

TEST_P(Golden, PromptsEqualTheRecordedOnes) {
  const std::string name = GetParam();
  const TestModel model = open_tiny("tiny-" + name + "-f32");
  int compared = 0;
  for (const json::Value& line : golden_lines(name)) {
    const std::string id = line.find("id")->text;
    if (line.find("status")->text != "200" || departs(id)) continue;
    SCOPED_TRACE(id);
    const Request request = request_of(line.find("body")->text);
    const Compiled compiled = model.compile(request, {.faithful = true});
    const std::vector<json::Value>& recorded = line.find("prompts")->items;
    ASSERT_EQ(compiled.prompts.size(), recorded.size());
    for (std::size_t i = 0; i < recorded.size(); ++i) {
      ++compared;
      const PromptNote& note = compiled.notes[i];
      EXPECT_EQ(note.text, text_of(recorded[i]));
      EXPECT_EQ(roles_of(note), roles_of(recorded[i]));
      if (const json::Value* question = recorded[i].find("question")) {
        EXPECT_EQ(request.questions[at(note.question)].id, question->text);
      }
      const json::Value* order = recorded[i].find("order");
      EXPECT_EQ(std::to_string(note.order), order == nullptr ? "0" : order->text);
      const Tokens& tokens = compiled.prompts[i].tokens;
      EXPECT_EQ(texts_of(note.uncut.empty() ? tokens : note.uncut),
                texts_of(recorded[i].find("ids")->items));
      const json::Value* evaluated = recorded[i].find("evaluated_ids");
      EXPECT_EQ(evaluated != nullptr, !note.uncut.empty());
      if (evaluated == nullptr) continue;
      EXPECT_EQ(texts_of(tokens), texts_of(evaluated->items));
    }
  }
  EXPECT_GT(compared, 40);
}

INSTANTIATE_TEST_SUITE_P(Families, Golden,
                         ::testing::Values("openjev", "openjev-moe", "openjev-qwen3", "lev",
                                           "nimble", "nimble-qwen3", "kev", "clef", "laya"));

}  // namespace
}  // namespace adjudge
