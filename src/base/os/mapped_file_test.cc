#include "base/os/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string_view>
#include <utility>

#include "support/support.h"

namespace adjudge {
namespace {

std::string_view text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

std::string error_of(const std::string& path) {
  const auto file = MappedFile::open(path);
  return file.ok() ? "no error" : file.error().message();
}

TEST(MappedFile, HoldsTheBytesOfTheFile) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.path() + "/a";
  testing::write_file(path, "some text");
  const MappedFile file = MappedFile::open(path).value();
  EXPECT_EQ(text_of(file), "some text");
  EXPECT_EQ(file.path(), path);
}

TEST(MappedFile, MovingLeavesTheBytesWhereTheyAre) {
  const testing::TemporaryFolder folder;
  testing::write_file(folder.path() + "/a", "some text");
  MappedFile file = MappedFile::open(folder.path() + "/a").value();
  const std::byte* data = file.bytes().data();
  const MappedFile moved = std::move(file);
  EXPECT_EQ(moved.bytes().data(), data);
  EXPECT_EQ(text_of(moved), "some text");
}

TEST(MappedFile, MayBeEmpty) {
  const testing::TemporaryFolder folder;
  testing::write_file(folder.path() + "/a", "");
  EXPECT_TRUE(MappedFile::open(folder.path() + "/a").value().bytes().empty());
}

TEST(MappedFile, RefusesWhatIsNotAFile) {
  const testing::TemporaryFolder folder;
  const std::string pipe = folder.path() + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(error_of(pipe), pipe + ": found a pipe or device, expected a file");
  EXPECT_EQ(error_of(folder.path()), folder.path() + ": found a directory, expected a file");
  EXPECT_EQ(error_of("/dev/null"), "/dev/null: found a pipe or device, expected a file");
  EXPECT_EQ(error_of(folder.path() + "/none"),
            folder.path() + "/none: cannot open: No such file or directory");
}

}  // namespace
}  // namespace adjudge
