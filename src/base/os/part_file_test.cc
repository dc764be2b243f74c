#include "base/os/part_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/support.h"

namespace adjudge {
namespace {

using testing::read_file;
using testing::TemporaryFolder;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

TEST(PartFile, ContinuesWhatAnEarlierOneLeft) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/file.part";
  ASSERT_TRUE(PartFile::open(path).value().append(bytes_of("first ")).ok());
  PartFile again = PartFile::open(path).value();
  EXPECT_EQ(again.bytes(), 6u);
  ASSERT_TRUE(again.append(bytes_of("second")).ok());
  EXPECT_EQ(read_file(path), "first second");
}

TEST(PartFile, AppendsAfterACut) {
  const TemporaryFolder folder;
  PartFile file = PartFile::open(folder.path() + "/file.part").value();
  ASSERT_TRUE(file.append(bytes_of("abcdef")).ok());
  ASSERT_TRUE(file.cut(2).ok());
  ASSERT_TRUE(file.append(bytes_of("XY")).ok());
  EXPECT_EQ(read_file(file.path()), "abXY");
}

TEST(PartFile, BelongsToOneAtATime) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/file.part";
  const PartFile mine = PartFile::open(path).value();
  const Result<PartFile> other = PartFile::open(path);
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.error().message().find("another adjudge"), std::string::npos);
}

TEST(PartFile, TakesItsNameOnlyWhenPublished) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/file";
  PartFile file = PartFile::open(path + ".part").value();
  ASSERT_TRUE(file.append(bytes_of("whole")).ok());
  EXPECT_FALSE(std::filesystem::exists(path));
  ASSERT_TRUE(file.publish(path).ok());
  EXPECT_EQ(read_file(path), "whole");
  EXPECT_FALSE(std::filesystem::exists(path + ".part"));
}

TEST(PartFile, SaysThatTheDiskIsFull) {
  PartFile full = PartFile::open("/dev/full").value();
  const Status status = full.append(bytes_of("x"));
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message().find("No space left"), std::string::npos);
}

}  // namespace
}  // namespace adjudge
