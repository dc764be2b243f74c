#include "adjudge/result.h"

#include <gtest/gtest.h>

#include <memory>

#include "base/try.h"

namespace adjudge {
namespace {

Result<std::unique_ptr<int>> halve(int number) {
  if (number % 2 != 0) return Error{ErrorKind::bad_request, std::to_string(number) + " is odd"};
  return std::make_unique<int>(number / 2);
}

Result<int> quarter(int number) {
  ADJ_TRY(const std::unique_ptr<int> half, halve(number));
  ADJ_TRY(const std::unique_ptr<int> result, halve(*half));
  return *result;
}

Status check_quarter(int number) {
  ADJ_TRY_DONE(quarter(number));
  return Done{};
}

TEST(Result, HoldsAValueOrAnError) {
  EXPECT_EQ(quarter(12).value(), 3);
  const Result<int> failed = quarter(7);
  ASSERT_FALSE(failed.ok());
  EXPECT_FALSE(static_cast<bool>(failed));
  EXPECT_EQ(failed.error().kind, ErrorKind::bad_request);
}

TEST(Result, TryReturnsTheFirstError) {
  EXPECT_EQ(quarter(7).error().message(), "7 is odd");
  EXPECT_EQ(quarter(6).error().message(), "3 is odd");
  EXPECT_TRUE(check_quarter(8).ok());
  EXPECT_EQ(check_quarter(2).error().message(), "1 is odd");
}

TEST(Error, SaysAllFaultsWithTheirPlacesInOneLine) {
  const Error error(ErrorKind::bad_request, {{{"questions", "team", "criteria"}, "missing", "gone"},
                                             {{"state"}, "too_long", "too long"},
                                             {{}, "", "and more"}});
  EXPECT_EQ(error.message(), "questions.team.criteria: gone; state: too long; and more");
}

}  // namespace
}  // namespace adjudge
