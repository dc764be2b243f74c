#include "family/sidecar.h"

#include "family/test_model.h"

namespace adjudge {
namespace {

using namespace testing;

// What reading this sidecar gives.
Result<std::optional<json::Value>> read(const std::string& content) {
  const TemporaryFolder folder;
  write_file(folder.path() + "/model.adjudge.json", content);
  return read_sidecar(folder.path() + "/model.gguf");
}

std::string refusal(const std::string& content) {
  const auto refused = read(content);
  if (refused.ok()) return "accepted";
  EXPECT_EQ(refused.error().kind, ErrorKind::bad_model);
  const std::string message = refused.error().message();
  EXPECT_NE(message.find("model.adjudge.json: "), std::string::npos) << message;
  return message.substr(message.find(".json: ") + 7);
}

TEST(Sidecar, MayBeMissing) {
  const TemporaryFolder folder;
  EXPECT_FALSE(value_of(read_sidecar(folder.path() + "/model.gguf")).has_value());
}

TEST(Sidecar, NamesAFamilyOrNot) {
  EXPECT_EQ(sidecar_family(*value_of(read(R"({"family": "kev"})"))), "kev");
  EXPECT_EQ(sidecar_family(*value_of(read("{}"))), "");
}

TEST(Sidecar, ReplacesWhatTheFileSaysOfAKind) {
  Calibration calibration;
  calibration.temperatures = {{"choice.small", 3.0}, {"choice", 2.0}, {"score", 4.0}};
  calibration.biases = {{"noul", {1, 1}}};
  apply_sidecar(*value_of(read(R"({"temperatures": {"choice": 0.5, "noul": 2},
                                   "biases": {"score.3": [0, -1, 0.5]}})")),
                calibration);
  EXPECT_EQ(calibration.temperatures,
            (std::map<std::string, double>{{"choice", 0.5}, {"noul", 2.0}, {"score", 4.0}}));
  EXPECT_EQ(calibration.biases, (std::map<std::string, std::vector<double>>{
                                    {"noul", {1, 1}}, {"score.3", {0, -1, 0.5}}}));
}

TEST(Sidecar, AFaultIsNamedWithItsPlaceWhatWasFoundAndWhatWasExpected) {
  EXPECT_EQ(refusal("[]"), "found an array, expected an object");
  EXPECT_EQ(refusal(R"({"family": 1})"), "family: found an integer, expected the name of a family");
  EXPECT_EQ(refusal(R"({"temprature": 1})"),
            "temprature: found an unknown member, expected family, temperatures or biases");
  EXPECT_EQ(refusal(R"({"temperatures": 1})"),
            "temperatures: found an integer, expected an object");
  EXPECT_EQ(refusal(R"({"temperatures": {"choice": "1"}})"),
            "temperatures.choice: found a string, expected a number above 0");
  EXPECT_EQ(refusal(R"({"temperatures": {"score": 0}})"),
            "temperatures.score: found 0.0, expected a number above 0");
  EXPECT_NE(refusal(R"({"temperatures": {"rank": 1}})").find("temperatures.rank: found an unknown"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"temperatures": {"choice.huge": 1}})").find("temperatures.choice.huge: "),
            std::string::npos);
  EXPECT_EQ(refusal(R"({"biases": {"noul": [1, 2, 3]}})"),
            "biases.noul: found 3 numbers, expected 2");
  EXPECT_EQ(refusal(R"({"biases": {"score.5": [1, 2]}})"),
            "biases.score.5: found 2 numbers, expected 5");
  EXPECT_NE(refusal(R"({"biases": {"score.05": []}})").find("found an unknown key"),
            std::string::npos);
  EXPECT_EQ(refusal(R"({"biases": {"choice": [true]}})"),
            "biases.choice: found a boolean, expected finite numbers");
  EXPECT_NE(refusal("{").find("byte"), std::string::npos);
}

TEST(Sidecar, OverridesTheFileWhenAFamilyOpens) {
  const json::Value sidecar = *value_of(read(R"({"temperatures": {"choice": 7}})"));
  const auto model =
      value_of(try_open_model(tiny_model("tiny-lev-f32"), find_family("lev"), &sidecar));
  EXPECT_EQ(model.compiler->calibration().temperature(QuestionKind::choice, 3), 7.0);
  EXPECT_NEAR(model.compiler->calibration().temperature(QuestionKind::score, 3), 1.45, 1e-6);
}

}  // namespace
}  // namespace adjudge
