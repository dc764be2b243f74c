#include "serve/router.h"

#include <gtest/gtest.h>

namespace adjudge::serve {
namespace {

struct Asked : HttpResponse {
  std::string route;
};

Asked ask(const std::string& method, const std::string& path) {
  const auto say = [](std::string what) {
    return [what](const HttpCall& call) { call.reply({.body = what}); };
  };
  const HttpHandler handler = route_to(
      {{"GET", "/a", say("get a")}, {"POST", "/a", say("post a")}, {"POST", "/b", say("post b")}});
  Asked asked;
  handler({.request = {.method = method, .path = path},
           .reply = [&](HttpResponse answer) { static_cast<HttpResponse&>(asked) = answer; },
           .routed = [&](const std::string& route) { asked.route = route; }});
  return asked;
}

TEST(Router, AMethodAndAPathLeadToAHandler) {
  EXPECT_EQ(ask("GET", "/a").body, "get a");
  EXPECT_EQ(ask("POST", "/a").body, "post a");
  EXPECT_EQ(ask("POST", "/b").body, "post b");
}

TEST(Router, HeadIsAnsweredAsGet) { EXPECT_EQ(ask("HEAD", "/a").body, "get a"); }

TEST(Router, AnotherPathIsNotFound) {
  for (const char* path : {"/", "/A", "/a/", "", "*", "/a%00"}) {
    EXPECT_EQ(ask("GET", path).status, 404) << path;
    EXPECT_EQ(ask("OPTIONS", path).status, 404) << path;
  }
}

TEST(Router, AnotherMethodIsToldWhatIsAllowed) {
  const HttpResponse response = ask("DELETE", "/a");
  EXPECT_EQ(response.status, 405);
  ASSERT_EQ(response.headers.size(), 1u);
  EXPECT_EQ(response.headers[0].name, "Allow");
  EXPECT_EQ(response.headers[0].value, "GET, HEAD, POST, OPTIONS");
  EXPECT_EQ(ask("HEAD", "/b").status, 405);
  EXPECT_EQ(ask("get", "/a").status, 405);
}

TEST(Router, OptionsSayWhatIsAllowed) {
  const HttpResponse response = ask("OPTIONS", "/b");
  EXPECT_EQ(response.status, 204);
  EXPECT_EQ(response.headers[0].value, "POST, OPTIONS");
  EXPECT_TRUE(response.body.empty());
}

TEST(Router, TheLogSeesOnlyPathsOfTheTable) {
  EXPECT_EQ(ask("GET", "/a").route, "/a");
  EXPECT_EQ(ask("PUT", "/a").route, "/a");
  EXPECT_EQ(ask("GET", "/my-secret").route, "");
}

TEST(Router, ABasePathIsTakenOff) {
  std::string seen;
  const HttpHandler handler =
      under("/decide", [&](const HttpCall& call) { seen = call.request.path; });
  const auto path_of = [&](std::string path) {
    handler({.request = {.path = std::move(path)}});
    return seen;
  };
  EXPECT_EQ(path_of("/decide/v1/models"), "/v1/models");
  EXPECT_EQ(path_of("/v1/models"), "/v1/models");
  EXPECT_EQ(path_of("/decided/v1"), "/decided/v1");
  EXPECT_EQ(path_of("/decide"), "/decide");
}

TEST(Router, ABasePathIsWhatARequestCanBeginWith) {
  for (const char* right : {"", "/decide", "/a/b", "/%7euser/x.y", "/a;b=c,d@e:f"}) {
    EXPECT_TRUE(check_base_path(right).ok()) << right;
  }
  for (const char* wrong : {"/", "decide", "/decide/", "/a//b", "/a/./b", "/a/..", "/a b", "/a?b",
                            "/a#b", "/a%2", "/a%2g", "/\xc3\xa9", "/a\n", "http://host/a"}) {
    const Status refused = check_base_path(wrong);
    ASSERT_FALSE(refused.ok()) << wrong;
    EXPECT_EQ(refused.error().kind, ErrorKind::bad_request);
  }
}

}  // namespace
}  // namespace adjudge::serve
