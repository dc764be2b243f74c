// The whole server over a fake model: what a client sees.
#include "serve/routes.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "json/value.h"
#include "protocol/systemone.h"
#include "serve/fake_decider.h"
#include "serve/http_server.h"
#include "serve/models_page.h"
#include "support/raw_client.h"

namespace adjudge::serve {
namespace {

using std::chrono::milliseconds;
using testing::get;
using testing::post;
using testing::RawClient;
using testing::RawResponse;

constexpr const char* kRequest =
    R"({"state":"text","questions":{"q":{"type":"noul","instructions":"late?"}}})";

struct Service {
  explicit Service(DecisionQueueOptions options = {})
      : server(HttpServer::listen({.port = 0}).value()),
        desk{.source = source, .limits = {}, .queue = DecisionQueue(options), .pool = WorkPool(2)} {
    server->start(route_to(make_routes(site)), [this](const RequestRecord& record) {
      std::lock_guard lock(mutex);
      records.push_back(record);
    });
  }
  ~Service() {
    decider.release();
    server->drain();
  }
  int port() const { return server->port(); }
  std::vector<RequestRecord> seen() {
    std::lock_guard lock(mutex);
    return records;
  }

  std::mutex mutex;
  std::vector<RequestRecord> records;
  FakeSource source;
  FakeDecider& decider = *source.decider;
  std::unique_ptr<HttpServer> server;
  DecisionDesk desk;
  std::vector<ModelCard> cards = {{.id = "fake"}};
  Site site{desk,    kSystemOne, cards, [] { return std::vector<int>{0}; }, [] { return "m 1\n"; },
            "1.2.3", "{}"};
};

TEST(Routes, ARequestIsAnswered) {
  Service service;
  const RawResponse response = RawClient(service.port()).ask(post("/v1/systemone", kRequest));
  ASSERT_EQ(response.status, 200);
  const json::Value body = json::parse(response.body).value();
  EXPECT_EQ(body.find("model")->text, "fake");
  EXPECT_EQ(body.find("answers")->find("q")->find("type")->text, "noul");
  for (const char* phase : {"parse", "queue", "compile", "evaluate", "read", "total"}) {
    EXPECT_NE(response.header("Server-Timing").find(phase), std::string::npos) << phase;
  }
}

TEST(Routes, AnAnswerToACutQuestionSaysSoInAHeader) {
  Service service;
  EXPECT_EQ(RawClient(service.port()).ask(post("/v1/systemone", kRequest)).header("x-truncated"),
            "");
  service.decider.truncates = true;
  const RawResponse response = RawClient(service.port()).ask(post("/v1/systemone", kRequest));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.header("x-truncated"), "true");
  EXPECT_NE(json::parse(response.body).value().find("x_truncated"), nullptr);
}

TEST(Routes, HealthDoesNotWaitForAPass) {
  Service service;
  service.decider.hold();
  RawClient busy(service.port());
  busy.send(post("/v1/systemone", kRequest));
  service.decider.await_begun(1);
  EXPECT_EQ(RawClient(service.port()).ask(get("/health")).body, R"({"status":"ok"})");
  EXPECT_EQ(RawClient(service.port()).ask(get("/v1/models")).status, 200);
}

TEST(Routes, ASlowObserverHoldsUpNoPass) {
  Service service;
  std::promise<void> written;
  service.desk.observer_waits = true;
  service.desk.observe = [disk = written.get_future().share()](const DecisionRecord&) {
    disk.wait();
  };
  RawClient first(service.port()), second(service.port());
  first.send(post("/v1/systemone", kRequest));
  service.decider.await_passes(1);
  second.send(post("/v1/systemone", kRequest));
  service.decider.await_passes(2);
  written.set_value();
  EXPECT_EQ(first.receive().status, 200);
  EXPECT_EQ(second.receive().status, 200);
}

TEST(Routes, AFullQueueSaysWhenToComeBackAndAWrongRequestIsStillToldSo) {
  Service service({.request_count_max = 1});
  service.decider.hold();
  RawClient deciding(service.port()), waiting(service.port()), refused(service.port());
  deciding.send(post("/v1/systemone", kRequest));
  service.decider.await_begun(1);
  waiting.send(post("/v1/systemone", kRequest));
  while (service.desk.queue.load().request_count < 1) std::this_thread::sleep_for(milliseconds(1));
  const RawResponse response = refused.ask(post("/v1/systemone", kRequest));
  EXPECT_EQ(response.status, 429);
  EXPECT_GE(std::atoi(response.header("Retry-After").c_str()), 1);
  EXPECT_EQ(refused.ask(post("/v1/systemone", "{}")).status, 422);
  service.decider.release();
  EXPECT_EQ(deciding.receive().status, 200);
  EXPECT_EQ(waiting.receive().status, 200);
}

TEST(Routes, ARequestTheModelCannotHoldIsTooLargeAndNotOverload) {
  Service service;
  service.decider.token_count_max = 3;
  const RawResponse response = RawClient(service.port()).ask(post("/v1/systemone", kRequest));
  EXPECT_EQ(response.status, 413);
  EXPECT_EQ(response.header("Retry-After"), "");
}

TEST(Routes, APassNobodyWaitsForIsGivenUp) {
  Service service;
  service.decider.hold();
  RawClient client(service.port());
  client.send(post("/v1/systemone", kRequest));
  service.decider.await_begun(1);
  client.leave();
  EXPECT_TRUE(service.decider.await_passes(1)[0].stopped);
}

TEST(Routes, ABodyWeWouldMisreadIsRefusedByItsHeader) {
  Service service;
  RawClient client(service.port());
  for (const char* header : {"Content-Encoding: br", "Content-Encoding: gzip, gzip",
                             "Content-Type: multipart/form-data; boundary=x"}) {
    const RawResponse response =
        client.ask("POST /v1/systemone HTTP/1.1\r\nHost: h\r\n" + std::string(header) +
                   "\r\nContent-Length: 2\r\n\r\n{}");
    EXPECT_EQ(response.status, 415) << header;
    EXPECT_TRUE(json::parse(response.body).ok());
  }
}

TEST(Routes, ReadyIsWhetherARequestWouldBeDecided) {
  Service service;
  RawClient client(service.port());
  EXPECT_EQ(client.ask(get("/ready")).status, 200);
  service.source.is_ready = false;
  const RawResponse response = client.ask(get("/ready"));
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.header("Retry-After"), "1");
  EXPECT_EQ(client.ask(get("/health")).status, 200);
  EXPECT_EQ(client.ask(post("/v1/systemone", kRequest)).status, 503);
}

TEST(Routes, AModelThatIsNotHereIsTheCallersFault) {
  Service service;
  const std::string question = R"({"q":{"type":"noul","instructions":"?"}})";
  const std::string body = R"({"model":"none","state":"s","questions":)" + question + "}";
  const RawResponse response = RawClient(service.port()).ask(post("/v1/systemone", body));
  EXPECT_EQ(response.status, 400);
  EXPECT_NE(response.body.find(R"("error_type":"api_usage_error")"), std::string::npos);
}

TEST(Routes, ADeadlineIsKeptWhileAPassGoesOn) {
  Service service;
  service.decider.hold();
  RawClient hurried(service.port());
  const std::string body = kRequest;
  // Where the machine is slow, the first deadlines may pass before any pass has begun.
  for (int ms = 50; !service.decider.has_begun(); ms *= 2) {
    const RawResponse response = hurried.ask(
        "POST /v1/systemone HTTP/1.1\r\nHost: h\r\nx-deadline-ms: " + std::to_string(ms) +
        "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    EXPECT_EQ(response.status, 504);
    EXPECT_NE(response.body.find(std::to_string(ms) + " ms of x-deadline-ms"), std::string::npos);
  }
  EXPECT_TRUE(service.decider.await_passes(1)[0].stopped) << "nobody waits for it any more";
  service.decider.release();
  EXPECT_EQ(hurried.ask(post("/v1/systemone", kRequest)).status, 200) << "the connection stays";
  // An answer is on its way before its line is in the log.
  EXPECT_EQ(service.seen().at(0).status, 504);
  EXPECT_EQ(service.seen().at(0).route, "/v1/systemone") << "whose requests come too late";
}

TEST(Routes, ADeadlineThatIsNoNumberIsRefused) {
  Service service;
  for (const char* wrong : {"soon", "-1", "1.5", "", "99999999999"}) {
    const RawResponse response =
        RawClient(service.port())
            .ask("GET /health HTTP/1.1\r\nHost: h\r\nx-deadline-ms: " + std::string(wrong) +
                 "\r\n\r\n");
    EXPECT_EQ(response.status, 400) << wrong;
  }
}

TEST(Routes, WhatNobodyAsksOfAModelNeedsNoModel) {
  Service service;
  RawClient client(service.port());
  EXPECT_EQ(client.ask(get("/v1/nothing")).status, 404);
  const RawResponse response = client.ask(get("/v1/systemone"));
  EXPECT_EQ(response.status, 405);
  EXPECT_EQ(response.header("Allow"), "POST, OPTIONS");
}

}  // namespace
}  // namespace adjudge::serve
