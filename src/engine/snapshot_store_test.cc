#include "engine/snapshot_store.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "backbone/fake.h"
#include "base/size.h"
#include "engine/evaluate.h"
#include "support/support.h"

namespace adjudge {
namespace {

class SnapshotStoreTest : public ::testing::Test {
 protected:
  // Evaluates `prompt_` and says how many tokens that took.
  int evaluate_in(Runtime& runtime) const {
    const Prompt* prompt = &prompt_;
    const auto rows = evaluate({backbone_, runtime, kOwner}, {&prompt, 1}, {}).value();
    EXPECT_TRUE(expected_row_.empty() || std::ranges::equal(rows.rows[0].row(0), expected_row_));
    return rows.evaluated_counts[0];
  }

  void save_one() {
    Runtime runtime;
    const Prompt* prompt = &prompt_;
    const auto rows = evaluate({backbone_, runtime, kOwner}, {&prompt, 1}, {}).value().rows;
    expected_row_.assign(rows[0].row(0).begin(), rows[0].row(0).end());
    ASSERT_TRUE(save_snapshots(file_, runtime.snapshots(), kOwner).ok());
  }

  int load_into(Runtime& runtime, const SnapshotFile& file) const {
    return load_snapshots(file, backbone_, runtime.snapshots(), kOwner).value();
  }

  std::string read_file() const {
    std::ifstream in(file_.path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write_file(const std::string& bytes) const {
    std::ofstream(file_.path, std::ios::binary) << bytes;
  }

  static constexpr SnapshotCache::Owner kOwner = 1;
  const testing::TemporaryFolder folder_;
  const SnapshotFile file_{folder_.path() + "/snapshots", "model, mode, build"};
  const FakeBackbone backbone_;
  const Prompt prompt_{.tokens = {1, 2, 3, 4, 5, 6}, .wanted = {5}, .borders = {2, 4}};
  std::vector<float> expected_row_;
};

TEST_F(SnapshotStoreTest, AnotherProcessGoesOnWhereThisOneEnded) {
  save_one();
  Runtime runtime;
  EXPECT_EQ(load_into(runtime, file_), 2);
  EXPECT_EQ(evaluate_in(runtime), 2);
}

TEST_F(SnapshotStoreTest, WhatIsNotThereOrOfAnotherKeyGivesNothing) {
  Runtime runtime;
  EXPECT_EQ(load_into(runtime, file_), 0);
  save_one();
  EXPECT_EQ(load_into(runtime, {file_.path, "model, mode, other"}), 0);
  EXPECT_EQ(load_into(runtime, {file_.path, "model"}), 0);
}

TEST_F(SnapshotStoreTest, ADamagedFileGivesOnlyWhatIsWhole) {
  save_one();
  const std::string whole = read_file();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x41);
    write_file(damaged);
    Runtime runtime;
    EXPECT_LT(load_into(runtime, file_), 2) << "byte " << i;
    evaluate_in(runtime);
    write_file(whole.substr(0, i));
    Runtime cut;
    EXPECT_LT(load_into(cut, file_), 2) << "cut at " << i;
    evaluate_in(cut);
  }
}

TEST_F(SnapshotStoreTest, TakesNoMoreThanThereIsRoomFor) {
  save_one();
  Runtime runtime({.snapshot_bytes_max = 10});
  EXPECT_EQ(load_into(runtime, file_), 0);
}

TEST_F(SnapshotStoreTest, AFolderThatIsNotThereIsNamed) {
  Runtime runtime;
  const SnapshotFile nowhere{folder_.path() + "/none/file", "key"};
  const Status saved = save_snapshots(nowhere, runtime.snapshots(), kOwner);
  ASSERT_FALSE(saved.ok());
  EXPECT_NE(saved.error().message().find("/none/file"), std::string::npos);
}

}  // namespace
}  // namespace adjudge
