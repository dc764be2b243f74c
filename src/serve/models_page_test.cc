#include "serve/models_page.h"

#include <gtest/gtest.h>

#include "base/size.h"
#include "json/value.h"

namespace adjudge::serve {
namespace {

json::Value page() {
  const ModelCard card{.id = "tiny",
                       .description = "a \"tiny\" model",
                       .created = 1790000000,
                       .family = "openjev",
                       .readout = "label",
                       .options_trained = 26,
                       .options_max = 255,
                       .positions_max = 8192,
                       .precision = "f32",
                       .fingerprint = "00ff",
                       .temperatures = {{"choice.2", 1.5}}};
  return json::parse(print_models_page(std::span(&card, 1), {})).value();
}

TEST(ModelsPage, OpenAiAndLlamaClientsFindADecisionModel) {
  const json::Value body = page();
  EXPECT_EQ(body.find("object")->text, "list");
  ASSERT_EQ(count_of(body.find("data")->items), 1);
  const json::Value& entry = body.find("data")->items[0];
  EXPECT_EQ(entry.find("id")->text, "tiny");
  EXPECT_EQ(entry.find("object")->text, "model");
  EXPECT_EQ(entry.find("created")->text, "1790000000");
  EXPECT_EQ(entry.find("owned_by")->type, json::Type::string);
  EXPECT_EQ(entry.find("architecture")->find("output_modalities")->items[0].text, "decisions");
}

TEST(ModelsPage, TypeSafeClientsFindTheirAliasesWithThreeStringsEach) {
  const json::Value body = page();
  std::vector<std::string> names;
  for (const json::Value& model : body.find("models")->items) {
    names.push_back(model.find("name")->text);
    EXPECT_EQ(model.find("description")->type, json::Type::string);
    EXPECT_EQ(model.find("release_date")->text, "2026-09-21");
  }
  EXPECT_EQ(names, (std::vector<std::string>{"tiny", "jev-latest", "jev-preview"}));
}

TEST(ModelsPage, LimitsAreReadableBeforeAsking) {
  const json::Value body = page();
  const json::Value& card = *body.find("data")->items[0].find("meta");
  EXPECT_EQ(card.find("options_trained")->text, "26");
  EXPECT_EQ(card.find("options_max")->text, "255");
  EXPECT_EQ(card.find("positions_max")->text, "8192");
  EXPECT_EQ(card.find("questions_max")->text, std::to_string(RequestLimits{}.question_count_max));
  EXPECT_EQ(card.find("temperatures")->find("choice.2")->real, 1.5);
  EXPECT_EQ(card.find("fingerprint")->text, "00ff");
}

}  // namespace
}  // namespace adjudge::serve
