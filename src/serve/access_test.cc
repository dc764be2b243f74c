#include "serve/access.h"

#include <gtest/gtest.h>

namespace adjudge::serve {
namespace {

HttpResponse ask(const AccessPolicy& policy, HttpRequest request) {
  HttpResponse answered;
  guarded(policy, [](const HttpCall& call) { call.reply({.body = call.request.client}); })(
      {std::move(request), {}, [&](HttpResponse response) { answered = std::move(response); }});
  return answered;
}

HttpResponse ask_with(const AccessPolicy& policy, std::vector<Header> headers,
                      std::string path = "/v1/systemone", std::string method = "POST") {
  headers.push_back({"Host", "127.0.0.1:8080"});
  return ask(policy, {.client = "peer", .method = method, .path = path, .headers = headers});
}

std::string header(const HttpResponse& response, std::string_view name) {
  return std::string(HttpRequest{.headers = response.headers}.header(name));
}

TEST(Access, WithoutKeysAStrayAuthorizationIsIgnored) {
  EXPECT_EQ(ask_with({}, {{"Authorization", "Bearer whatever"}}).status, 200);
  EXPECT_EQ(ask_with({}, {{"Authorization", "Basic dTpw"}}).status, 200);
}

TEST(Access, AnyOfTheKeysOpensAndTakesTurnsAsItself) {
  const AccessPolicy policy{.keys = {"first", "second"}};
  EXPECT_EQ(ask_with(policy, {{"authorization", "Bearer first"}}).body, "key 1");
  EXPECT_EQ(ask_with(policy, {{"Authorization", "Bearer second"}}).body, "key 2");
  EXPECT_EQ(ask_with({}, {}).body, "peer");
}

TEST(Access, NoKeyOrAWrongOneIsUnauthorized) {
  const AccessPolicy policy{.keys = {"first"}};
  for (const char* wrong : {"", "first", "Bearer ", "Bearer firs", "Bearer firstfirst",
                            "Basic first", "bearer_first"}) {
    const HttpResponse refused = ask_with(policy, {{"Authorization", wrong}});
    EXPECT_EQ(refused.status, 401) << wrong;
    EXPECT_NE(refused.body.find(R"("error_type":"authentication_error")"), std::string::npos);
    EXPECT_EQ(header(refused, "WWW-Authenticate"), "Bearer");
  }
  EXPECT_EQ(ask_with(policy, {{"x-api-key", "first"}}).status, 401);
}

TEST(Access, HealthIsOpenAndBare) {
  const AccessPolicy policy{.keys = {"first"}};
  for (const char* path : {"/health", "/healthz", "/ready"}) {
    EXPECT_EQ(ask_with(policy, {}, path, "GET").status, 200) << path;
  }
  EXPECT_EQ(ask_with(policy, {}, "/v1/models", "GET").status, 401);
  EXPECT_EQ(ask_with(policy, {}, "/metrics", "GET").status, 401);
}

TEST(Access, AReboundNameIsRefused) {
  const auto with_host = [](const AccessPolicy& policy, std::string host) {
    return ask(policy, {.method = "GET", .headers = {{"Host", std::move(host)}}}).status;
  };
  for (const char* host :
       {"localhost", "localhost:8080", "127.0.0.1", "127.1.2.3:80", "[::1]:80", "app.localhost"}) {
    EXPECT_EQ(with_host({}, host), 200) << host;
  }
  for (const char* host : {"evil.example", "127.0.0.1.evil.example:80", "localhost.evil.example"}) {
    EXPECT_EQ(with_host({}, host), 403) << host;
  }
  EXPECT_EQ(with_host({.hosts = {"box.lan"}}, "box.lan:8080"), 200);
  EXPECT_EQ(with_host({.loopback = false}, "anything.example"), 200);
}

TEST(Access, APageOfAnotherOriginIsRefused) {
  for (const char* origin : {"http://evil.example", "null", "https://127.0.0.1.evil.example"}) {
    const HttpResponse refused = ask_with({}, {{"Origin", origin}});
    EXPECT_EQ(refused.status, 403) << origin;
    EXPECT_EQ(header(refused, "Access-Control-Allow-Origin"), "");
  }
  const HttpResponse own = ask_with({}, {{"Origin", "http://127.0.0.1:8080"}});
  EXPECT_EQ(own.status, 200);
  EXPECT_EQ(header(own, "Access-Control-Allow-Origin"), "");
  EXPECT_EQ(ask_with({}, {{"Origin", "http://localhost:3000"}}).status, 200);
}

TEST(Access, AListedOriginMayAskAndRead) {
  const AccessPolicy policy{.keys = {"k"}, .origins = {"https://app.example"}};
  const HttpResponse asked =
      ask_with(policy,
               {{"Origin", "https://app.example"},
                {"Access-Control-Request-Method", "POST"},
                {"Access-Control-Request-Headers", "authorization, content-type"}},
               "/v1/systemone", "OPTIONS");
  EXPECT_EQ(asked.status, 204) << "a browser asks first without a key";
  EXPECT_EQ(header(asked, "Access-Control-Allow-Headers"), "authorization, content-type");
  const HttpResponse refused = ask_with(policy, {{"Origin", "https://app.example"}});
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(header(refused, "Access-Control-Allow-Origin"), "https://app.example")
      << "the page should be able to read why";
  EXPECT_EQ(ask_with({.origins = {"*"}}, {{"Origin", "null"}}).status, 200);
}

TEST(Access, EqualityIsThatOfTexts) {
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abc", "abd"));
  EXPECT_FALSE(equal_in_constant_time("abc", "abcabc"));
  EXPECT_FALSE(equal_in_constant_time("abcabc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abc", ""));
  EXPECT_TRUE(equal_in_constant_time("", ""));
}

}  // namespace
}  // namespace adjudge::serve
