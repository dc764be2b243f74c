#include "app/catalogue.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "support/support.h"

namespace adjudge::app {
namespace {

using adjudge::testing::TemporaryFolder;
using adjudge::testing::write_file;

const std::string kEntry = R"({
  "name": "small", "about": "a model", "licence": "MIT", "file": "small.gguf", "bytes": 3,
  "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  "sources": [{"kind": "url", "url": "file:///nowhere"}]})";

std::string list_of(const std::string& entries, const std::string& name = "small") {
  return "{\"default\": \"" + name + "\", \"models\": [" + entries + "]}";
}

std::string with(std::string_view from, std::string_view to) {
  std::string text = kEntry;
  const std::size_t place = text.find(from);
  EXPECT_NE(place, std::string::npos) << from;
  return list_of(text.replace(place, from.size(), to));
}

std::string refusal(const std::string& text) {
  const Result<Catalogue> parsed = parse_catalogue(text);
  return parsed.ok() ? "" : parsed.error().message();
}

TEST(Catalogue, ReadsEveryKindOfSource) {
  const Catalogue parsed =
      parse_catalogue(with(R"([{"kind": "url", "url": "file:///nowhere"}])",
                           R"([{"kind": "hub", "repository": "a/b", "file": "c"},
                               {"kind": "url", "url": "file:///d"},
                               {"kind": "packages", "package": "p{N}", "version": "1",
                                "member": "m{NN}", "part_count": 2, "part_bytes": 2}])"))
          .value();
  const CatalogueEntry& entry = *parsed.find("default");
  ASSERT_EQ(entry.sources.size(), 3u);
  EXPECT_EQ(std::get<HubSource>(entry.sources[0]).repository, "a/b");
  EXPECT_EQ(std::get<UrlSource>(entry.sources[1]).url, "file:///d");
  EXPECT_EQ(std::get<PackageSource>(entry.sources[2]).part_count, 2);
}

TEST(Catalogue, SaysWhereItIsWrong) {
  EXPECT_EQ(refusal(list_of(kEntry)), "");
  EXPECT_NE(refusal("{"), "");
  EXPECT_EQ(refusal("{\"default\": \"x\"}"), "catalogue: models is missing");
  EXPECT_EQ(refusal(list_of("")), "catalogue: models must be a list that is not empty");
  EXPECT_EQ(refusal(with("\"bytes\": 3", "\"bytes\": -3")),
            "catalogue: models[0].bytes must be a number from 1 to 17592186044416");
  EXPECT_EQ(refusal(with("ba78", "BA78")),
            "catalogue: models[0] needs 64 small hex digits as sha256");
  EXPECT_EQ(refusal(with("small.gguf", "../small.gguf")),
            "catalogue: models[0] names a file in a folder");
  EXPECT_EQ(refusal(with("\"kind\": \"url\"", "\"kind\": \"post\"")),
            "catalogue: models[0].sources[0] has the unknown kind post");
  EXPECT_EQ(refusal(list_of(kEntry + "," + kEntry)), "catalogue: models[1] repeats the name small");
  EXPECT_EQ(refusal(list_of(kEntry, "other")), "catalogue: default is no model of the list");
}

TEST(Catalogue, IsCompiledIn) {
  EXPECT_NE(catalogue().find("default"), nullptr);
  EXPECT_EQ(catalogue().find("no such model"), nullptr);
}

class ResolveModel : public ::testing::Test {
 protected:
  void SetUp() override { ::setenv("ADJUDGE_MODELS", folder_.path().c_str(), 1); }
  void TearDown() override { ::unsetenv("ADJUDGE_MODELS"); }
  const TemporaryFolder folder_;
};

TEST_F(ResolveModel, TellsToPullWhatIsAbsent) {
  const Result<std::string> result = resolve_model("default");
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message().find("run `adjudge pull default`"), std::string::npos);
}

TEST_F(ResolveModel, FindsAPulledModelByName) {
  const std::string path = folder_.path() + "/" + catalogue().find("default")->file;
  write_file(path, "weights");
  EXPECT_EQ(resolve_model("default").value(), path);
}

TEST_F(ResolveModel, TakesAPathAsItIs) {
  const std::string path = folder_.path() + "/mine.gguf";
  EXPECT_FALSE(resolve_model(path).ok());
  write_file(path, "weights");
  EXPECT_EQ(resolve_model(path).value(), path);
}

TEST_F(ResolveModel, RefusesPathsTheSystemCannotLookUp) {
  const std::string circle = folder_.path() + "/circle.gguf";
  std::filesystem::create_symlink(circle, circle);
  EXPECT_FALSE(resolve_model(circle).ok());
  const std::string long_name(5000, 'a');
  EXPECT_FALSE(resolve_model(long_name).ok());
  ::setenv("ADJUDGE_MODELS", long_name.c_str(), 1);
  EXPECT_FALSE(resolve_model("default").ok());
}

}  // namespace
}  // namespace adjudge::app
