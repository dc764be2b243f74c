#include "base/os/child.h"

#include <gtest/gtest.h>

#include <vector>

namespace adjudge {
namespace {

Result<int> run(std::vector<std::string> arguments) { return run_child(arguments); }

TEST(Child, ReturnsTheExitStatus) {
  EXPECT_EQ(run({"true"}).value(), 0);
  EXPECT_EQ(run({"sh", "-c", "exit 7"}).value(), 7);
  EXPECT_EQ(run({"sh", "-c", "kill -TERM $$"}).value(), 128 + 15);
}

TEST(Child, PassesArgumentsUntouched) {
  EXPECT_EQ(run({"test", "a b; $(false) '\"", "=", "a b; $(false) '\""}).value(), 0);
}

TEST(Child, SaysWhatCannotBeRun) {
  const Result<int> result = run({"no-such-program-anywhere"});
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message().find("no-such-program-anywhere"), std::string::npos);
}

}  // namespace
}  // namespace adjudge
