#include "serve/http.h"

#include <gtest/gtest.h>

#include "json/value.h"

namespace adjudge::serve {
namespace {

TEST(HttpRequest, HeadersAreFoundWhateverTheirCase) {
  const HttpRequest request{.headers = {{"X-One", "1"}, {"x-one", "2"}, {"X-On", "3"}}};
  EXPECT_EQ(request.header("x-ONE"), "1");
  EXPECT_EQ(request.header("X-Two"), "");
}

TEST(Refusal, BothMembersThatClientsLookForSayTheSame) {
  const HttpResponse response = refusal(404, "not_found_error", "no \"such\" path");
  const json::Value body = json::parse(response.body).value();
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(body.find("detail")->find("error_type")->text, "not_found_error");
  EXPECT_EQ(body.find("detail")->find("message")->text, "no \"such\" path");
  EXPECT_EQ(body.find("error")->find("code")->text, "404");
  EXPECT_EQ(body.find("error")->find("type")->text, "not_found_error");
  EXPECT_EQ(body.find("error")->find("message")->text, "no \"such\" path");
}

}  // namespace
}  // namespace adjudge::serve
