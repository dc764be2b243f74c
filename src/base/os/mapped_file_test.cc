#include "base/os/mapped_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <thread>
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

TEST(MappedFile, IsIntactUntilItIsWrittenTo) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.path() + "/a";
  testing::write_file(path, "some text");
  const MappedFile file = MappedFile::open(path).value();
  EXPECT_TRUE(file.intact());
  std::filesystem::rename(path, folder.path() + "/b");
  testing::write_file(path, "other text");
  EXPECT_TRUE(file.intact()) << "it is another file";
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // file systems have coarse clocks
  testing::write_file(folder.path() + "/b", "SOME TEXT");
  EXPECT_FALSE(file.intact());
}

TEST(MappedFile, WhatWasCutOffReadsAsZeroAndIsNotIntact) {
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  const testing::TemporaryFolder folder;
  const std::string path = folder.path() + "/a";
  testing::write_file(path, std::string(kBytes, 'x'));
  const MappedFile file = MappedFile::open(path).value();
  const MappedFile other = MappedFile::open("/proc/self/exe").value();
  std::filesystem::resize_file(path, kBytes / 2);
  EXPECT_FALSE(file.intact()) << "before anybody touches it";
  survive_vanished_pages();
  EXPECT_EQ(text_of(file)[kBytes / 2 - 1], 'x');
  EXPECT_EQ(text_of(file)[kBytes - 1], 0);
  EXPECT_EQ(text_of(file)[kBytes / 2], 0);
  std::filesystem::resize_file(path, kBytes);
  EXPECT_FALSE(file.intact());
  EXPECT_TRUE(other.intact());
  std::signal(SIGBUS, SIG_DFL);
}

TEST(MappedFile, APageThatNobodyWatchesStillEndsTheProcess) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.path() + "/a";
  testing::write_file(path, std::string(8192, 'x'));
  const auto touch = [&] {
    survive_vanished_pages();
    const int descriptor = open(path.c_str(), O_RDONLY);
    const auto* bytes = static_cast<const volatile char*>(
        mmap(nullptr, 8192, PROT_READ, MAP_SHARED, descriptor, 0));
    std::filesystem::resize_file(path, 0);
    std::exit(bytes[0]);
  };
  EXPECT_EXIT(touch(), ::testing::KilledBySignal(SIGBUS), "");
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
