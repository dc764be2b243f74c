#include "family/compile/decision_family.h"

#include "family/test_model.h"

namespace adjudge {
namespace {

using namespace testing;

class Oracle final : public DecisionFamily {
 public:
  std::string_view name() const override { return "oracle"; }
  Result<std::unique_ptr<PromptCompiler>> open(const OpenedFile&) const override {
    return Error{ErrorKind::not_supported, "an oracle stays closed"};
  }
};

gguf::Metadata metadata_of(std::string_view architecture, std::string_view key,
                           gguf::MetaValue value) {
  gguf::Metadata metadata;
  metadata.add("general.architecture", gguf::MetaValue(architecture));
  metadata.add(key, std::move(value));
  return metadata;
}

TEST(DecisionFamily, ClaimsTheFileThatNamesItUnderItsArchitecture) {
  const auto named = [](std::string_view key, gguf::MetaValue value) {
    return Oracle().claims(metadata_of("qwen35", key, std::move(value)));
  };
  const gguf::MetaValue oracle = std::string_view("oracle");
  EXPECT_TRUE(named("qwen35.decision.type", oracle));
  EXPECT_FALSE(named("qwen3.decision.type", oracle));
  EXPECT_FALSE(named("general.name", oracle));
  EXPECT_FALSE(named("qwen35.decision.type", std::string_view("Oracle")));
}

TEST(DecisionFamily, ATypeOfAnotherKindIsAnErrorAndClaimsNothing) {
  const auto metadata = metadata_of("qwen35", "qwen35.decision.type", std::int64_t{3});
  EXPECT_FALSE(Oracle().claims(metadata));
  const auto type = decision_type(metadata);
  ASSERT_FALSE(type.ok());
  EXPECT_NE(type.error().message().find("qwen35.decision.type"), std::string::npos);
  EXPECT_FALSE(claiming_family(metadata).ok());
}

TEST(DecisionFamily, AFileWithoutATypeHasNone) {
  EXPECT_FALSE(value_of(decision_type(metadata_of("qwen35", "general.name", std::int64_t{3}))));
}

}  // namespace
}  // namespace adjudge
