#include "serve/decision_queue.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <thread>

#include "serve/fake_decider.h"

namespace adjudge::serve {
namespace {

using States = std::vector<std::string>;

class Occupied;

// One caller: submits, may leave, is told.
class Caller {
 public:
  explicit Caller(std::vector<std::string> states, std::string client = "one")
      : states_(std::move(states)) {
    waiting_.client = std::move(client);
    waiting_.gone = leaving_.get_token();
    waiting_.done = [told = told_](Decided decided) { told->set_value(std::move(decided)); };
  }
  explicit Caller(const std::string& state, std::string client = "one")
      : Caller(States{state}, std::move(client)) {}
  void let_in() { waiting_.let_in = true; }
  void wait_at_most(std::chrono::milliseconds time) {
    waiting_.deadline = std::chrono::steady_clock::now() + time;
  }
  Status submit(Occupied& occupied);
  void leave() { leaving_.request_stop(); }
  Decided decided() { return told_->get_future().get(); }

 private:
  States states_;
  Waiting waiting_;
  std::stop_source leaving_;
  std::shared_ptr<std::promise<Decided>> told_ = std::make_shared<std::promise<Decided>>();
};

// A pass that holds the queue up, so that what is submitted after it waits.
class Occupied {
 public:
  explicit Occupied(const DecisionQueueOptions& options = {}, DecisionQueueHooks hooks = {}) {
    decider.hold();
    queue = std::make_unique<DecisionQueue>(options, std::move(hooks));
    EXPECT_TRUE(first.submit(*this).ok());
    decider.await_begun(1);
  }
  ~Occupied() { decider.release(); }

  const std::shared_ptr<FakeDecider> decider_held = std::make_shared<FakeDecider>();
  FakeDecider& decider = *decider_held;
  Caller first{"first"};
  std::unique_ptr<DecisionQueue> queue;
};

Status Caller::submit(Occupied& occupied) {
  for (const std::string& state : states_) {
    waiting_.parts.push_back(occupied.decider.prepare({.state = json::string(state)}).value());
  }
  return occupied.queue->submit(std::move(waiting_));
}

TEST(DecisionQueue, WhatWaitsTogetherIsDecidedTogetherInOrder) {
  Occupied occupied;
  Caller a("a"), b("b"), c("c");
  for (Caller* caller : {&a, &b, &c}) ASSERT_TRUE(caller->submit(occupied).ok());
  occupied.decider.release();
  EXPECT_EQ(b.decided().together, 3);
  const auto passes = occupied.decider.await_passes(2);
  EXPECT_EQ(passes[0].states, States{"first"});
  EXPECT_EQ(passes[1].states, (States{"a", "b", "c"}));
}

TEST(DecisionQueue, EachCallerGetsItsOwnRequestBack) {
  Occupied occupied;
  Caller a("a"), b("bb");
  ASSERT_TRUE(a.submit(occupied).ok());
  ASSERT_TRUE(b.submit(occupied).ok());
  occupied.decider.release();
  const Decided decided = b.decided();
  EXPECT_EQ(decided.parts[0]->request.state.text, "bb");
  EXPECT_EQ(decided.responses[0].value().usage.input_tokens, 2);
  EXPECT_EQ(a.decided().parts[0]->request.state.text, "a");
}

TEST(DecisionQueue, APassTakesNoMoreThanItsTokensAndRequests) {
  Occupied occupied({.together_token_count_max = 10, .together_request_count_max = 2});
  std::vector<std::unique_ptr<Caller>> callers;
  for (const char* state : {"12345678", "123", "1", "1", "1234567890123456"}) {
    callers.push_back(std::make_unique<Caller>(state));
    ASSERT_TRUE(callers.back()->submit(occupied).ok());
  }
  occupied.decider.release();
  const auto passes = occupied.decider.await_passes(5);
  EXPECT_EQ(passes[1].states, (States{"12345678"}));
  EXPECT_EQ(passes[2].states, (States{"123", "1"}));
  EXPECT_EQ(passes[3].states, (States{"1"}));
  EXPECT_EQ(passes[4].states, (States{"1234567890123456"}));
}

TEST(DecisionQueue, APassIsShortWhileSeveralClientsAsk) {
  for (const bool competes : {false, true}) {
    Occupied occupied({.competing_token_count_max = 2});
    Caller a("a"), b("b"), c("c"), other("other", competes ? "other" : "one");
    for (Caller* caller : {&a, &b, &c, &other}) ASSERT_TRUE(caller->submit(occupied).ok());
    occupied.decider.release();
    const auto passes = occupied.decider.await_passes(competes ? 4 : 2);
    EXPECT_EQ(passes[1].states, competes ? States{"other"} : (States{"a", "b", "c", "other"}));
    if (competes) {
      EXPECT_EQ(passes[2].states, (States{"a", "b"}));
    }
  }
}

TEST(DecisionQueue, AFullQueueRefusesAtOnce) {
  Occupied occupied({.token_count_max = 10, .request_count_max = 3});
  Caller large("12345678"), too_much("123"), small("12"), too_many("1"), other("123", "other");
  EXPECT_FALSE(large.submit(occupied).ok() && too_much.submit(occupied).ok());
  EXPECT_TRUE(small.submit(occupied).ok());
  Caller empty("");
  EXPECT_TRUE(empty.submit(occupied).ok());
  const Status refused = too_many.submit(occupied);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::overloaded);
  EXPECT_TRUE(other.submit(occupied).ok()) << "one client must not fill the queue for another";
}

TEST(DecisionQueue, WhoseDeadlineWouldPassIsToldSoAtOnce) {
  Occupied occupied;
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // ten a token
  occupied.decider.release();
  occupied.first.decided();
  occupied.decider.hold();
  Caller running("1"), waiting("0123456789"), hasty("1"), patient("1"), other("1", "other");
  ASSERT_TRUE(running.submit(occupied).ok());
  occupied.decider.await_begun(2);
  ASSERT_TRUE(waiting.submit(occupied).ok());
  hasty.wait_at_most(std::chrono::milliseconds(60));
  const Status refused = hasty.submit(occupied);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::overloaded);
  patient.wait_at_most(std::chrono::seconds(60));
  EXPECT_TRUE(patient.submit(occupied).ok());
  other.wait_at_most(std::chrono::milliseconds(1));
  EXPECT_TRUE(other.submit(occupied).ok()) << "its turn comes before the queue's end";
}

TEST(DecisionQueue, WhatWasLetInBeforeIsNeverRefused) {
  Occupied occupied({.request_count_max = 1});
  Caller a("a"), b("b"), row("row");
  row.let_in();
  EXPECT_TRUE(a.submit(occupied).ok());
  EXPECT_FALSE(b.submit(occupied).ok());
  EXPECT_TRUE(row.submit(occupied).ok());
}

TEST(DecisionQueue, ClientsTakeTurns) {
  Occupied occupied({.together_request_count_max = 2});
  std::vector<std::unique_ptr<Caller>> flood;
  for (const char* state : {"1", "2", "3", "4"}) {
    flood.push_back(std::make_unique<Caller>(state));
    ASSERT_TRUE(flood.back()->submit(occupied).ok());
  }
  Caller other("other", "other");
  ASSERT_TRUE(other.submit(occupied).ok());
  occupied.decider.release();
  EXPECT_EQ(occupied.decider.await_passes(2)[1].states, (States{"other", "1"}));
}

TEST(DecisionQueue, TheRequestsOfOneCallAreDecidedInOnePass) {
  Occupied occupied({.together_token_count_max = 2});
  Caller call(States{"aa", "bb"}), next("c");
  ASSERT_TRUE(call.submit(occupied).ok());
  ASSERT_TRUE(next.submit(occupied).ok());
  occupied.decider.release();
  EXPECT_EQ(call.decided().responses.size(), 2u);
  EXPECT_EQ(occupied.decider.await_passes(2)[1].states, (States{"aa", "bb"}));
}

TEST(DecisionQueue, TwoModelsShareNoPass) {
  Occupied occupied;
  const auto other = std::make_shared<FakeDecider>();
  Caller ours("ours");
  ASSERT_TRUE(ours.submit(occupied).ok());
  Waiting waiting{.done = [](const Decided&) {}};
  waiting.parts.push_back(other->prepare({.state = json::string("theirs")}).value());
  ASSERT_TRUE(occupied.queue->submit(std::move(waiting)).ok());
  occupied.decider.release();
  EXPECT_EQ(other->await_passes(1)[0].states, States{"theirs"});
  EXPECT_EQ(occupied.decider.await_passes(2)[1].states, States{"ours"});
}

TEST(DecisionQueue, ARequestLargerThanTheQueueIsTakenWhenNothingWaits) {
  Occupied occupied({.token_count_max = 10});
  Caller large("123456789012345");
  EXPECT_TRUE(large.submit(occupied).ok());
}

TEST(DecisionQueue, ThoseWhoLeftMakeRoom) {
  Occupied occupied({.token_count_max = 10});
  Caller leaves("1234567890"), comes("1234567890");
  ASSERT_TRUE(leaves.submit(occupied).ok());
  leaves.leave();
  EXPECT_TRUE(comes.submit(occupied).ok());
  EXPECT_EQ(leaves.decided().responses[0].error().kind, ErrorKind::cancelled);
}

TEST(DecisionQueue, WhoLeftWhileWaitingIsNotDecided) {
  Occupied occupied;
  Caller leaves("leaves"), stays("stays");
  ASSERT_TRUE(leaves.submit(occupied).ok());
  ASSERT_TRUE(stays.submit(occupied).ok());
  leaves.leave();
  occupied.decider.release();
  EXPECT_TRUE(stays.decided().responses[0].ok());
  EXPECT_EQ(leaves.decided().responses[0].error().kind, ErrorKind::cancelled);
  EXPECT_EQ(occupied.decider.await_passes(2)[1].states, States{"stays"});
}

TEST(DecisionQueue, APassIsGivenUpWhenNobodyWaitsForIt) {
  Occupied occupied;  // never released: only the stop ends the pass
  occupied.first.leave();
  EXPECT_TRUE(occupied.decider.await_passes(1)[0].stopped);
  EXPECT_EQ(occupied.first.decided().responses[0].error().kind, ErrorKind::cancelled);
}

TEST(DecisionQueue, APassGoesOnWhileSomebodyWaitsForIt) {
  Occupied occupied;
  Caller leaves("leaves"), stays("stays");
  ASSERT_TRUE(leaves.submit(occupied).ok());
  ASSERT_TRUE(stays.submit(occupied).ok());
  occupied.first.leave();  // ends the first pass; the second is held
  occupied.decider.await_begun(2);
  leaves.leave();
  occupied.decider.release();
  EXPECT_FALSE(occupied.decider.await_passes(2)[1].stopped);
  EXPECT_TRUE(stays.decided().responses[0].ok());
}

TEST(DecisionQueue, EndingDecidesWhatWaits) {
  Occupied occupied;
  Caller a("a");
  ASSERT_TRUE(a.submit(occupied).ok());
  occupied.decider.release();
  occupied.queue.reset();
  EXPECT_TRUE(a.decided().responses[0].ok());
}

TEST(DecisionQueue, WhoComesAfterTheEndIsRefused) {
  Occupied occupied;
  occupied.decider.release();
  occupied.queue->close();
  EXPECT_EQ(occupied.first.decided().responses.size(), 1u);
  Caller late("late");
  EXPECT_EQ(late.submit(occupied).error().kind, ErrorKind::unavailable);
}

TEST(DecisionQueue, CountsWhatItDecidesAndHasDecided) {
  Occupied occupied;
  Caller a("a"), b("b");
  for (Caller* caller : {&a, &b}) ASSERT_TRUE(caller->submit(occupied).ok());
  EXPECT_EQ(occupied.queue->load().deciding_count, 1);
  EXPECT_EQ(occupied.queue->load().pass_count, 0u);
  occupied.decider.release();
  for (Caller* caller : {&a, &b}) caller->decided();  // whoever has an answer has been counted
  EXPECT_EQ(occupied.queue->load().pass_count, 2u);
  EXPECT_EQ(occupied.queue->load().decided_count, 3u);
  EXPECT_EQ(occupied.queue->load().deciding_count, 0);
}

TEST(DecisionQueue, TellsOfEachPassOnceAndOfNoneThatNobodyWaitedFor) {
  std::vector<int> passes;
  Occupied occupied({.together_request_count_max = 3},
                    {.count_pass = [&](int request_count) { passes.push_back(request_count); }});
  Caller two(States{"a", "b"}), one("c"), other("d"), gone("e");
  for (Caller* caller : {&two, &one, &other, &gone}) ASSERT_TRUE(caller->submit(occupied).ok());
  for (Caller* caller : {&other, &gone}) caller->leave();
  occupied.decider.release();
  EXPECT_FALSE(gone.decided().responses[0].ok());
  Caller last("f");
  ASSERT_TRUE(last.submit(occupied).ok());
  last.decided();
  EXPECT_EQ(passes, (std::vector<int>{1, 3, 1}));
  EXPECT_EQ(occupied.queue->load().pass_count, 3u);
  EXPECT_EQ(occupied.queue->load().decided_count, 5u);
}

TEST(DecisionQueue, WhatFindsNoMemoryTriesAgainWhileOthersMakeRoom) {
  const auto decider = std::make_shared<FakeDecider>();
  int asked_count = 0;
  const auto make_room = [&](int needed_count, int room_count) {
    asked_count = 0;
    decider->finds_memory = false;
    return [&asked_count, decider, needed_count, room_count] {
      decider->finds_memory = ++asked_count >= needed_count;
      return asked_count <= room_count;
    };
  };
  for (const int room_count : {0, 1, 2, 5}) {
    DecisionQueue queue({}, {.make_room = make_room(2, room_count)});
    std::promise<Decided> told;
    Waiting waiting{.done = [&](Decided decided) { told.set_value(std::move(decided)); }};
    waiting.parts.push_back(decider->prepare({.state = json::string("s")}).value());
    ASSERT_TRUE(queue.submit(std::move(waiting)).ok());
    EXPECT_EQ(told.get_future().get().responses[0].ok(), room_count >= 2) << room_count;
    EXPECT_EQ(asked_count, std::min(room_count + 1, 2));
  }
}

TEST(DecisionQueue, WhatMakingRoomTakesIsNoPaceOfPasses) {
  Occupied occupied({}, {.make_room = [&] {
                      std::this_thread::sleep_for(std::chrono::milliseconds(200));
                      return occupied.decider.finds_memory = true;
                    }});
  occupied.decider.finds_memory = false;
  occupied.decider.release();
  EXPECT_TRUE(occupied.first.decided().responses[0].ok());
  occupied.decider.hold();
  Caller busy(std::string(250, 'x'));
  ASSERT_TRUE(busy.submit(occupied).ok());
  EXPECT_LE(occupied.queue->expected_wait().count(), 3) << "five tokens took no fifth of a second";
}

TEST(DecisionQueue, WhatNeverFitsIsTooLargeAndNobodyMakesRoomForIt) {
  std::atomic<int> asked_count = 0;
  Occupied occupied({}, {.make_room = [&] { return ++asked_count < 9; }});
  occupied.decider.never_finds_memory = true;
  occupied.decider.release();
  const Result<Response> refused = occupied.first.decided().responses[0];
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::too_large);
  EXPECT_NE(print_error(refused.error()).find(R"("max_tokens_exceeded")"), std::string::npos)
      << "the word that the protocol has for it";
  EXPECT_EQ(refused.error().message(), "never any memory");
  EXPECT_EQ(asked_count, 0);
}

TEST(DecisionQueue, NobodyMakesRoomForAModelWhoseFileHasChanged) {
  const auto decider = std::make_shared<FakeDecider>();
  decider->finds_memory = false;
  decider->is_usable = false;
  std::atomic<int> asked_count = 0;
  DecisionQueue queue({}, {.make_room = [&] { return ++asked_count < 9; }});
  std::promise<Decided> told;
  Waiting waiting{.done = [&](Decided decided) { told.set_value(std::move(decided)); }};
  waiting.parts.push_back(decider->prepare({.state = json::string("s")}).value());
  ASSERT_TRUE(queue.submit(std::move(waiting)).ok());
  EXPECT_FALSE(told.get_future().get().responses[0].ok());
  EXPECT_EQ(asked_count, 0);
}

TEST(DecisionQueue, TheExpectedWaitGrowsWithWhatWaits) {
  Occupied occupied;
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  occupied.decider.release();  // five tokens took a tenth of a second
  EXPECT_TRUE(occupied.first.decided().responses[0].ok());
  EXPECT_EQ(occupied.queue->expected_wait().count(), 1);
  occupied.decider.hold();
  Caller busy("busy");
  ASSERT_TRUE(busy.submit(occupied).ok());
  occupied.decider.await_begun(2);
  Caller long_one(std::string(200, 'x'));
  ASSERT_TRUE(long_one.submit(occupied).ok());
  EXPECT_GE(occupied.queue->expected_wait().count(), 3);
  EXPECT_LE(occupied.queue->expected_wait().count(), 60);
}

}  // namespace
}  // namespace adjudge::serve
