#include "app/sha256.h"

#include <gtest/gtest.h>

#include "support/support.h"

namespace adjudge::app {
namespace {

TEST(Sha256, EqualsThePublishedExamples) {  // FIPS 180-2, appendix B
  const adjudge::testing::TemporaryFolder folder;
  const std::string path = folder.path() + "/file";
  adjudge::testing::write_file(path, "abc");
  EXPECT_EQ(sha256_of_file(path).value(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  adjudge::testing::write_file(path, std::string(1000000, 'a'));
  EXPECT_EQ(sha256_of_file(path).value(),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, NamesAFileItCannotRead) {
  const Result<std::string> result = sha256_of_file("/no/such/file");
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message().find("/no/such/file"), std::string::npos);
}

}  // namespace
}  // namespace adjudge::app
