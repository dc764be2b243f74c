#include "serve/batch_handler.h"

#include <gtest/gtest.h>

#include <future>

#include "serve/fake_decider.h"

namespace adjudge::serve {
namespace {

constexpr const char* kQuestions = R"("questions":{"q":{"type":"noul","instructions":"?"}}})";

struct Desk {
  FakeSource source;
  DecisionDesk desk{
      .source = source, .limits = {}, .queue = DecisionQueue({}), .pool = WorkPool(2)};
};

// The peer's side: asks for piece after piece until the last.
std::string read_all(const BodySource& source) {
  std::string text;
  for (bool last = false; !last;) {
    std::promise<BodyPiece> piece;
    source([&](BodyPiece made) { piece.set_value(std::move(made)); });
    const BodyPiece made = piece.get_future().get();
    text += made.text;
    last = made.last;
  }
  return text;
}

HttpResponse ask(DecisionDesk& desk, std::string body, std::stop_token gone = {}) {
  std::promise<HttpResponse> answered;
  batch_handler(desk)({{.client = "one", .body = std::move(body)},
                       std::move(gone),
                       [&](HttpResponse response) { answered.set_value(std::move(response)); }});
  return answered.get_future().get();
}

std::string states(int count) {
  std::string text = R"({"states":[)";
  for (int i = 0; i < count; ++i) text += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\"";
  return text + "]," + kQuestions;
}

TEST(BatchHandler, EveryStateGetsItsLineInOrder) {
  Desk desk;
  const std::string text = read_all(ask(desk.desk, states(500)).source);
  std::size_t place = 0;
  for (int i = 0; i < 500; ++i) {
    const std::string begin = "{\"index\":" + std::to_string(i) + ",\"model\":";
    ASSERT_EQ(text.compare(place, begin.size(), begin), 0) << i;
    place = text.find('\n', place) + 1;
  }
  EXPECT_EQ(place, text.size());
}

TEST(BatchHandler, RowsThatWaitTogetherAreDecidedTogether) {
  Desk desk;
  desk.source.decider->hold();
  auto text =
      std::async(std::launch::async, [&] { return read_all(ask(desk.desk, states(33)).source); });
  desk.source.decider->await_begun(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  desk.source.decider->release();
  text.get();
  EXPECT_LE(desk.source.decider->await_passes(1).size(), 3u) << "of 33 rows";
}

TEST(BatchHandler, ARowThatFailsSaysSoInItsOwnLine) {
  Desk desk;
  desk.source.decider->token_count_max = 3;
  const std::string body =
      std::string(R"({"states":[null,"ok","much too long","ok"],)") + kQuestions;
  const std::string text = read_all(ask(desk.desk, body).source);
  EXPECT_NE(text.find(R"({"index":0,"status":422,"detail":)"), std::string::npos);
  EXPECT_NE(text.find(R"({"index":1,"model":"fake")"), std::string::npos);
  EXPECT_NE(text.find(R"({"index":2,"status":413,"detail":)"), std::string::npos);
  EXPECT_NE(text.find(R"({"index":3,"model":"fake")"), std::string::npos);
}

TEST(BatchHandler, WhatIsWrongWithTheWholeIsToldAtOnce) {
  Desk desk;
  for (const char* begin :
       {R"({)", R"({"states":[],)", R"({"states":"s",)", R"({"states":null,)"}) {
    EXPECT_EQ(ask(desk.desk, std::string(begin) + kQuestions).status, 422) << begin;
  }
  EXPECT_EQ(ask(desk.desk, std::string(R"({"model":"none","states":["s"],)") + kQuestions).status,
            400);
}

TEST(BatchHandler, APeerThatLeavesEndsIt) {
  Desk desk;
  desk.source.decider->hold();
  std::stop_source leaving;
  const BodySource source = ask(desk.desk, states(5000), leaving.get_token()).source;
  std::promise<BodyPiece> piece;
  source([&](BodyPiece made) { piece.set_value(std::move(made)); });
  leaving.request_stop();
  EXPECT_TRUE(piece.get_future().get().last);
}

TEST(BatchHandler, ADeskMayEndWhileRowsAreBeingLetIn) {
  for (int round = 0; round < 50; ++round) {
    Desk desk;
    const BodySource source = ask(desk.desk, states(200)).source;
    source([](BodyPiece) {});
  }
}

TEST(BatchHandler, AReaderWhoDoesNotReadHoldsRowsBack) {
  Desk desk;
  const HttpResponse response = ask(desk.desk, states(1000));
  desk.source.decider->await_passes(2);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  std::size_t decided_count = 0;
  for (const auto& pass : desk.source.decider->await_passes(2)) decided_count += pass.states.size();
  EXPECT_LE(decided_count, 64u);
  read_all(response.source);
}

}  // namespace
}  // namespace adjudge::serve
