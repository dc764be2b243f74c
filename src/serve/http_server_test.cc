#include "serve/http_server.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include "base/size.h"
#include "json/value.h"
#include "support/raw_client.h"

namespace adjudge::serve {
namespace {

using std::chrono::milliseconds;
using testing::get;
using testing::post;
using testing::RawClient;
using testing::RawResponse;

// Says what it heard.
void echo(const HttpCall& call) {
  call.reply({.body = "\"" + call.request.method + " " + call.request.path + " " +
                      std::to_string(call.request.body.size()) + "\""});
}

class Running {
 public:
  explicit Running(HttpHandler handler = echo, HttpServerOptions options = {}) {
    options.port = 0;
    server_ = HttpServer::listen(options).value();
    server_->start(std::move(handler), [this](const RequestRecord& record) {
      std::lock_guard lock(mutex_);
      records_.push_back(record);
    });
  }
  HttpServer& operator*() { return *server_; }
  int port() const { return server_->port(); }
  std::vector<RequestRecord> records() {
    std::lock_guard lock(mutex_);
    return records_;
  }

 private:
  std::mutex mutex_;
  std::vector<RequestRecord> records_;
  std::unique_ptr<HttpServer> server_;
};

// Both members that clients look for.
std::string error_type(const RawResponse& response) {
  const json::Value body = json::parse(response.body).value();
  EXPECT_EQ(body.find("detail")->find("message")->text, body.find("error")->find("message")->text);
  EXPECT_EQ(body.find("error")->find("code")->text, std::to_string(response.status));
  return body.find("detail")->find("error_type")->text;
}

// The part of the test's own descriptors that the server can leak.
int open_descriptor_count() {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

TEST(HttpServer, AConnectionCarriesManyRequests) {
  Running server;
  RawClient client(server.port());
  for (int i = 0; i < 3; ++i) {
    const RawResponse response = client.ask(post("/p?q=1", std::string(at(i), 'x')));
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, "\"POST /p " + std::to_string(i) + "\"");
    EXPECT_EQ(response.header("Content-Type"), "application/json");
    EXPECT_NE(response.header("Server-Timing").find("total;dur="), std::string::npos);
  }
}

TEST(HttpServer, PipelinedRequestsAreAnsweredInOrder) {
  Running server;
  RawClient client(server.port());
  client.send(get("/a") + post("/b", "xyz") + get("/c"));
  EXPECT_EQ(client.receive().body, "\"GET /a 0\"");
  EXPECT_EQ(client.receive().body, "\"POST /b 3\"");
  EXPECT_EQ(client.receive().body, "\"GET /c 0\"");
}

TEST(HttpServer, EveryResponseHasItsOwnIdAndKeepsTheCallers) {
  Running server;
  RawClient client(server.port());
  const RawResponse first = client.ask(get("/"));
  const RawResponse second =
      client.ask("GET / HTTP/1.1\r\nHost: h\r\nX-Request-Id: caller-7.a\r\n\r\n");
  const RawResponse third = client.ask("GET / HTTP/1.1\r\nHost: h\r\nX-Request-Id: a b\r\n\r\n");
  EXPECT_TRUE(first.header("x-typesafe-request-id").starts_with("req_"));
  EXPECT_EQ(first.header("x-request-id"), first.header("x-typesafe-request-id"));
  EXPECT_NE(first.header("x-typesafe-request-id"), second.header("x-typesafe-request-id"));
  EXPECT_EQ(second.header("x-request-id"), "caller-7.a");
  EXPECT_EQ(third.header("x-request-id"), third.header("x-typesafe-request-id"));
}

TEST(HttpServer, HeadHasTheHeadersOfGetAndNoBody) {
  Running server;
  RawClient client(server.port());
  client.send("HEAD /x HTTP/1.1\r\nHost: h\r\n\r\n" + get("/y"));
  EXPECT_EQ(client.receive(false).header("Content-Length"), "11");
  EXPECT_EQ(client.receive().body, "\"GET /y 0\"");
}

TEST(HttpServer, ChunksBecomeOneBody) {
  Running server;
  RawClient client(server.port());
  const RawResponse response = client.ask(
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n5;ext=1\r\ndefgh\r\n0\r\n\r\n");
  EXPECT_EQ(response.body, "\"POST / 8\"");
}

TEST(HttpServer, ABodyIsInvitedBeforeItComes) {
  Running server;
  RawClient client(server.port());
  EXPECT_EQ(client
                .ask("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n"
                     "Expect: 100-continue\r\n\r\n")
                .status,
            100);
  EXPECT_EQ(client.ask("ok").body, "\"POST / 2\"");
}

TEST(HttpServer, AnotherExpectationIsRefused) {
  Running server;
  RawClient client(server.port());
  EXPECT_EQ(client.ask("GET / HTTP/1.1\r\nHost: h\r\nExpect: tea\r\n\r\n").status, 417);
}

TEST(HttpServer, AnAnnouncedBodyOverTheLimitIsRefusedUnread) {
  Running server;
  RawClient client(server.port());
  const RawResponse response = client.ask(
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 200000000\r\n"
      "Expect: 100-continue\r\n\r\n");
  EXPECT_EQ(response.status, 413);
  EXPECT_EQ(error_type(response), "request_too_large_error");
  EXPECT_EQ(response.header("Connection"), "close");
}

TEST(HttpServer, AChunkedBodyIsCutOffAtTheLimit) {
  Running server(echo, {.body_bytes_max = 100'000});
  RawClient client(server.port());
  client.send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string chunk = "1000\r\n" + std::string(0x1000, 'x') + "\r\n";
  int sent_count = 0;
  while (sent_count < 10'000 && client.send(chunk)) ++sent_count;
  EXPECT_LT(sent_count, 10'000) << "40 MB were taken";
  EXPECT_EQ(client.receive().status, 413);
}

TEST(HttpServer, ABodyOfExactlyTheLimitIsTaken) {
  Running server(echo, {.body_bytes_max = 1000});
  RawClient client(server.port());
  EXPECT_EQ(client.ask(post("/", std::string(1000, 'x'))).status, 200);
  EXPECT_EQ(client.ask(post("/", std::string(1001, 'x'))).status, 413);
}

TEST(HttpServer, AHeaderOverTheLimitIsRefused) {
  Running server;
  RawClient client(server.port());
  const std::string junk = "X-Junk: " + std::string(20'000, 'j') + "\r\n";
  EXPECT_EQ(client.ask("GET / HTTP/1.1\r\nHost: h\r\n" + junk + "\r\n").status, 431);
}

TEST(HttpServer, WhatIsNotHttpIsRefusedInJson) {
  const std::vector<std::string> wrong = {
      "this is no request\r\n\r\n",
      "GET / HTTP/2.0\r\nHost: h\r\n\r\n",
      "GET / HTTP/1.1\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: h\r\nno colon\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: identity\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked, gzip\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: "
      "chunked\r\n\r\n0\r\n\r\n",
  };
  Running server;
  for (const std::string& bytes : wrong) {
    const RawResponse response = RawClient(server.port()).ask(bytes);
    ASSERT_EQ(response.status, 400) << bytes;
    EXPECT_EQ(error_type(response), "invalid_request_error");
    EXPECT_TRUE(response.header("x-typesafe-request-id").starts_with("req_"));
  }
}

TEST(HttpServer, ASlowHeaderAndASlowBodyRunOutOfTheTimeThatIsNamed) {
  Running server(echo, {.header_timeout = milliseconds(100), .body_timeout = milliseconds(90)});
  RawClient slow_header(server.port()), slow_body(server.port());
  slow_header.send("GET / HT");
  slow_body.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nabc");
  EXPECT_NE(slow_header.receive().body.find("header took more than 100 ms"), std::string::npos);
  EXPECT_NE(slow_body.receive().body.find("body took more than 90 ms"), std::string::npos);
}

TEST(HttpServer, AnIdleConnectionIsClosed) {
  Running server(echo, {.idle_timeout = milliseconds(100)});
  RawClient silent(server.port()), once(server.port());
  EXPECT_EQ(once.ask(get("/")).status, 200);
  EXPECT_TRUE(silent.is_closed_within(2000));
  EXPECT_TRUE(once.is_closed_within(2000));
}

TEST(HttpServer, AnOldClientGetsItsConnectionClosed) {
  Running server;
  RawClient client(server.port());
  EXPECT_EQ(client.ask("GET / HTTP/1.0\r\n\r\n").status, 200);
  EXPECT_TRUE(client.is_closed_within(2000));
}

TEST(HttpServer, OneConnectionTooManyIsToldSo) {
  Running server(echo, {.connection_count_max = 1});
  RawClient first(server.port());
  EXPECT_EQ(first.ask(get("/")).status, 200);
  RawClient second(server.port());
  const RawResponse refused = second.receive();
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.header("Retry-After"), "1");
  EXPECT_EQ(first.ask(get("/")).status, 200);
}

// Whether the server finds out within the time that its peer has left.
bool is_gone_within(const HttpCall& call, int ms) {
  for (; ms > 0 && !call.gone.stop_requested(); --ms) std::this_thread::sleep_for(milliseconds(1));
  return call.gone.stop_requested();
}

TEST(HttpServer, APeerThatLeavesIsNoticed) {
  std::promise<HttpCall> calls;
  Running server([&](HttpCall call) { calls.set_value(std::move(call)); });
  RawClient client(server.port());
  client.send(get("/"));
  const HttpCall call = calls.get_future().get();
  EXPECT_FALSE(call.gone.stop_requested());
  client.leave();
  EXPECT_TRUE(is_gone_within(call, 2000));
  call.reply({.status = 499});
  (*server).drain();
  ASSERT_EQ(server.records().size(), 1u);
  EXPECT_EQ(server.records()[0].status, 499);
}

TEST(HttpServer, APeerThatOnlySendsNoMoreIsAnswered) {
  std::promise<HttpCall> calls;
  Running server([&](HttpCall call) { calls.set_value(std::move(call)); });
  RawClient client(server.port());
  client.send(get("/"));
  client.end_sending();
  const HttpCall call = calls.get_future().get();
  EXPECT_EQ(client.receive().status, 100) << "it is asked whether it is still there";
  EXPECT_FALSE(is_gone_within(call, 50));
  call.reply({.body = "1"});
  EXPECT_EQ(client.receive().body, "1");
  EXPECT_TRUE(client.is_closed_within(2000));
}

TEST(HttpServer, APeerThatSendsNoMoreAndThenLeavesIsNoticed) {
  std::promise<HttpCall> calls;
  Running server([&](HttpCall call) { calls.set_value(std::move(call)); });
  RawClient client(server.port());
  client.send(get("/"));
  client.end_sending();
  const HttpCall call = calls.get_future().get();
  EXPECT_FALSE(is_gone_within(call, 50));
  client.leave();
  EXPECT_TRUE(is_gone_within(call, 2000));
  call.reply({.status = 499});
}

TEST(HttpServer, AnOldClientThatSendsNoMoreIsTakenToHaveLeft) {
  std::promise<HttpCall> calls;
  Running server([&](HttpCall call) { calls.set_value(std::move(call)); });
  RawClient client(server.port());
  client.send("GET / HTTP/1.0\r\n\r\n");
  client.end_sending();
  const HttpCall call = calls.get_future().get();
  EXPECT_TRUE(is_gone_within(call, 2000));
  call.reply({.status = 499});
}

TEST(HttpServer, AWholeAddressMeansItsPathAndItsHost) {
  std::string host;
  Running server([&](const HttpCall& call) {
    host = call.request.header("Host");
    echo(call);
  });
  RawClient client(server.port());
  EXPECT_EQ(client.ask("GET http://proxied:81/a?b HTTP/1.1\r\nHost: other\r\n\r\n").body,
            "\"GET /a 0\"");
  EXPECT_EQ(host, "proxied:81");
}

TEST(HttpServer, APeerThatSendsItsNextRequestEarlyIsStillThere) {
  std::promise<HttpCall> calls;
  std::atomic<int> call_count = 0;
  Running server([&](HttpCall call) {
    if (call_count++ == 0) return calls.set_value(std::move(call));
    echo(call);
  });
  RawClient client(server.port());
  client.send(get("/"));
  const HttpCall call = calls.get_future().get();
  client.send(get("/next"));
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_FALSE(call.gone.stop_requested());
  call.reply({.body = "1"});
  EXPECT_EQ(client.receive().body, "1");
  EXPECT_EQ(client.receive().body, "\"GET /next 0\"");
}

// Three pieces, each made by another thread.
void count_to_three(const HttpCall& call) {
  auto next = std::make_shared<int>(0);
  HttpResponse response;
  response.source = [next](std::function<void(BodyPiece)> deliver) {
    const int number = ++*next;
    std::thread([number, deliver = std::move(deliver)] {
      deliver({std::to_string(number) + "\n", number == 3});
    }).detach();
  };
  call.reply(std::move(response));
}

TEST(HttpServer, AnAnswerCanBeSentWhileItIsMade) {
  Running server(count_to_three);
  RawClient client(server.port());
  client.send(get("/") + get("/"));
  const std::string body = "2\r\n1\n\r\n2\r\n2\n\r\n2\r\n3\n\r\n0\r\n\r\n";
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(client.receive().header("Transfer-Encoding"), "chunked");
    EXPECT_EQ(client.receive_bytes(body.size()), body);
  }
}

TEST(HttpServer, APeerThatOnlySendsNoMoreGetsEveryPiece) {
  Running server(count_to_three);
  RawClient client(server.port());
  client.send(get("/"));
  client.end_sending();
  EXPECT_EQ(client.receive().header("Transfer-Encoding"), "chunked");
  const std::string body = "2\r\n1\n\r\n2\r\n2\n\r\n2\r\n3\n\r\n0\r\n\r\n";
  EXPECT_EQ(client.receive_bytes(body.size()), body);
}

TEST(HttpServer, AnOldClientReadsPiecesUntilTheEnd) {
  Running server(count_to_three);
  RawClient client(server.port());
  const RawResponse response = client.ask("GET / HTTP/1.0\r\n\r\n");
  EXPECT_EQ(response.header("Transfer-Encoding"), "");
  EXPECT_EQ(client.receive_bytes(6), "1\n2\n3\n");
  EXPECT_TRUE(client.is_closed_within(3000));
}

TEST(HttpServer, WhatIsOwedToAPeerThatLeftIsWaitedFor) {
  std::promise<std::function<void(BodyPiece)>> asked;
  Running server([&](const HttpCall& call) {
    HttpResponse response;
    response.source = [&](std::function<void(BodyPiece)> deliver) {
      asked.set_value(std::move(deliver));
    };
    call.reply(std::move(response));
  });
  RawClient client(server.port());
  client.send(get("/"));
  const auto deliver = asked.get_future().get();
  client.leave();
  std::this_thread::sleep_for(milliseconds(50));
  deliver({"late", true});
  (*server).drain();
}

TEST(HttpServer, BodiesOfAllPeersTogetherAreBounded) {
  Running server(echo, {.body_memory_max = 300'000});
  RawClient first(server.port()), second(server.port());
  const std::string head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 200000\r\n\r\n";
  first.send(head + std::string(199'999, 'x'));
  std::this_thread::sleep_for(milliseconds(100));
  second.send(head + std::string(200'000, 'x'));
  const RawResponse refused = second.receive();
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.header("Retry-After"), "1");
  EXPECT_EQ(first.ask("x").status, 200);
  EXPECT_EQ(RawClient(server.port()).ask(post("/", std::string(200'000, 'x'))).status, 200)
      << "what was answered counts no more";
}

TEST(HttpServer, ALateAnswerDoesNotDisturbTheNextRequest) {
  std::promise<HttpCall> calls;
  std::atomic<int> call_count = 0;
  Running server([&](HttpCall call) {
    if (call_count++ == 0) return calls.set_value(std::move(call));
    echo(call);
  });
  RawClient client(server.port());
  client.send("GET /late HTTP/1.1\r\nHost: h\r\nx-deadline-ms: 30\r\n\r\n");
  const HttpCall late = calls.get_future().get();
  EXPECT_EQ(client.receive().status, 504);
  EXPECT_TRUE(late.gone.stop_requested());
  EXPECT_EQ(client.ask(get("/next")).body, "\"GET /next 0\"");
  late.reply({.body = "too late"});
  EXPECT_EQ(client.ask(get("/after")).body, "\"GET /after 0\"");
}

TEST(HttpServer, DrainingAnswersWhatHasBegunAndThenCloses) {
  std::promise<HttpCall> calls;
  Running server([&](HttpCall call) { calls.set_value(std::move(call)); });
  RawClient busy(server.port()), idle(server.port());
  busy.send(get("/"));
  const HttpCall call = calls.get_future().get();
  std::thread drain([&] { (*server).drain(); });
  EXPECT_TRUE(idle.is_closed_within(2000));
  call.reply({.body = "1"});
  const RawResponse response = busy.receive();
  EXPECT_EQ(response.body, "1");
  EXPECT_EQ(response.header("Connection"), "close");
  busy.leave();
  drain.join();
}

// One I/O thread accepts, hands on and is told to end: what it holds in its hands at that moment is
// answered as well as what waits outside.
TEST(HttpServer, WhoIsBeingAcceptedWhenTheEndIsDecidedIsAnswered) {
  constexpr int kPeerCount = 16;
  std::array<std::promise<void>, 2> held, released;
  std::atomic<int> call_count = 0;
  Running server([&](const HttpCall& call) {
    if (const int i = call_count++; i < 2) {
      held[at(i)].set_value();
      released[at(i)].get_future().wait();
    }
    echo(call);
  });
  RawClient first(server.port());
  first.send(get("/first"));
  held[0].get_future().wait();
  std::vector<std::unique_ptr<RawClient>> peers;
  for (int i = 0; i < kPeerCount; ++i) {
    peers.push_back(std::make_unique<RawClient>(server.port()));
    peers.back()->send(get("/"));
  }
  released[0].set_value();
  held[1].get_future().wait();  // in the midst of accepting them
  std::thread drain([&] { (*server).drain(); });
  std::this_thread::sleep_for(milliseconds(50));
  released[1].set_value();
  for (const auto& peer : peers) EXPECT_EQ(peer->receive().body, "\"GET / 0\"");
  first.leave();
  peers.clear();
  drain.join();
}

TEST(HttpServer, WhoHasKnockedWhenTheEndIsDecidedMayStillAsk) {
  Running server;
  RawClient kept(server.port()), fresh(server.port());
  EXPECT_EQ(kept.ask(get("/")).status, 200);
  std::thread drain([&] { (*server).drain(); });
  std::this_thread::sleep_for(milliseconds(50));
  for (RawClient* client : {&kept, &fresh}) {
    const RawResponse response = client->ask(get("/late"));
    EXPECT_EQ(response.body, "\"GET /late 0\"");
    EXPECT_EQ(response.header("Connection"), "close");
    client->leave();
  }
  drain.join();
}

TEST(HttpServer, WhatWasSentAheadIsAnsweredBeforeTheEnd) {
  std::promise<HttpCall> calls;
  std::atomic<int> call_count = 0;
  Running server([&](HttpCall call) {
    if (call_count++ == 0) return calls.set_value(std::move(call));
    echo(call);
  });
  RawClient client(server.port());
  client.send(get("/1") + get("/2") + get("/3"));
  const HttpCall call = calls.get_future().get();
  std::thread drain([&] { (*server).drain(); });
  std::this_thread::sleep_for(milliseconds(50));
  call.reply({.body = "1"});
  EXPECT_EQ(client.receive().body, "1");
  EXPECT_EQ(client.receive().body, "\"GET /2 0\"");
  const RawResponse last = client.receive();
  EXPECT_EQ(last.body, "\"GET /3 0\"");
  EXPECT_EQ(last.header("Connection"), "close");
  client.leave();
  drain.join();
}

// Many knock all the time; whoever got a connection gets an answer, the others a clear refusal.
TEST(HttpServer, NobodyWhoGotAConnectionIsResetByTheEnd) {
  for (int round = 0; round < 3; ++round) {
    Running server;
    std::atomic<int> answered_count = 0, lost_count = 0;
    std::vector<std::thread> knockers;
    for (int i = 0; i < 4; ++i) {
      knockers.emplace_back([&] {
        while (const auto client = RawClient::try_connect(server.port())) {
          (client->ask(get("/")).status == 200 ? answered_count : lost_count)++;
        }
      });
    }
    while (answered_count < 20) std::this_thread::yield();
    (*server).drain();
    for (std::thread& knocker : knockers) knocker.join();
    EXPECT_EQ(lost_count, 0);
  }
}

TEST(HttpServer, TheEndIsWaitedForOnlySoLong) {
  Running server([](const HttpCall& call) { call.reply({.status = 499}); },
                 {.drain_grace = milliseconds(10), .drain_timeout = milliseconds(50)});
  RawClient client(server.port());
  client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nabc");
  EXPECT_FALSE(client.is_closed_within(50));
  EXPECT_EQ((*server).drain(), 1);
  EXPECT_TRUE(client.is_closed_within(0));
}

TEST(HttpServer, AServerCanEndWhilePeersAreConnected) {
  auto server = std::make_unique<Running>();
  RawClient busy(server->port()), idle(server->port());
  busy.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nabc");
  server.reset();
  EXPECT_TRUE(idle.is_closed_within(2000));
}

TEST(HttpServer, ThousandConnectionsLeaveNoDescriptor) {
  Running server(echo, {.idle_timeout = milliseconds(500)});
  EXPECT_EQ(RawClient(server.port()).ask(get("/")).status, 200);
  const auto settle = [&] {
    int count = open_descriptor_count();
    for (int i = 0; i < 100 && count > 0; ++i) {
      std::this_thread::sleep_for(milliseconds(10));
      count = std::min(count, open_descriptor_count());
    }
    return count;
  };
  const int before = settle();
  for (int i = 0; i < 1000; ++i) {
    RawClient client(server.port());
    if (i % 4 == 0) {
      EXPECT_EQ(client.ask(get("/")).status, 200);
    }
    if (i % 4 == 1) client.send("GET / HT");
    if (i % 4 == 2) client.send(post("/", std::string(100'000, 'x')));
  }
  EXPECT_EQ(settle(), before);
}

TEST(HttpServer, TheLogHasALineForEachRequestAndNothingOfItsContent) {
  Running server;
  RawClient client(server.port());
  client.ask("SECRET /secret?secret=1 HTTP/1.1\r\nHost: secret\r\nX: secret\r\n\r\n");
  client.ask("secret\r\n\r\n");
  client.leave();
  (*server).drain();
  for (const RequestRecord& record : server.records()) {
    const std::string line = record.id + record.method + record.route + record.note;
    EXPECT_EQ(line.find("ecret"), std::string::npos) << line;
    EXPECT_EQ(line.find("SECRET"), std::string::npos) << line;
  }
  EXPECT_EQ(server.records().size(), 2u);
}

TEST(HttpServer, APortInUseIsNamed) {
  Running server;
  const auto second = HttpServer::listen({.port = server.port()});
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().message().find(std::to_string(server.port())), std::string::npos);
  EXPECT_NE(second.error().message().find("taken"), std::string::npos);
}

TEST(HttpServer, OthersReachItOnlyWhenAsked) {
  EXPECT_FALSE(HttpServer::listen({.host = "0.0.0.0", .port = 0}).ok());
  EXPECT_FALSE(HttpServer::listen({.host = "example.org", .port = 0}).ok());
  EXPECT_TRUE(HttpServer::listen({.host = "0.0.0.0", .port = 0, .public_allowed = true}).ok());
  const auto local = HttpServer::listen({.host = "localhost", .port = 0});
  ASSERT_TRUE(local.ok());
  EXPECT_EQ(local.value()->url(), "http://127.0.0.1:" + std::to_string(local.value()->port()));
}

}  // namespace
}  // namespace adjudge::serve
