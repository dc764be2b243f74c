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

TEST(RequestTarget, IsAPathOrAWholeAddress) {
  const auto expect = [](std::string_view target, std::string_view path,
                         std::string_view authority) {
    EXPECT_EQ(read_target(target).path, path) << target;
    EXPECT_EQ(read_target(target).authority, authority) << target;
  };
  expect("/a/b?c=/d", "/a/b", "");
  expect("*", "*", "");
  expect("http://host:8080/a?b", "/a", "host:8080");
  expect("HTTPS://[::1]:1/a", "/a", "[::1]:1");
  expect("http://host", "/", "host");
  expect("http://host?a", "/", "host");
  expect("http:///a", "http:///a", "");
  expect("http://", "http://", "");
  expect("/http://host/a", "/http://host/a", "");
  expect("ftp://host/a", "ftp://host/a", "");
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
