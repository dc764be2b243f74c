#include "serve/model_shelf.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "engine/runtime.h"
#include "protocol/error_body.h"
#include "serve/fake_decider.h"

namespace adjudge::serve {
namespace {

using std::chrono::milliseconds;
using Loaded = Result<std::shared_ptr<const Decider>>;

// Memory for so many models at a time.
class Memory {
 public:
  explicit Memory(int room) : room_(std::make_shared<std::atomic<int>>(room)) {}

  ShelfEntry entry(std::string id) {
    return {.card = {.id = std::move(id)}, .load = [room = room_]() -> Loaded {
              if (*room == 0) return Error{ErrorKind::unavailable, "no memory"};
              --*room;
              return std::shared_ptr<const Decider>(new FakeDecider, [room](FakeDecider* decider) {
                delete decider;
                ++*room;
              });
            }};
  }

 private:
  std::shared_ptr<std::atomic<int>> room_;
};

std::vector<ShelfEntry> entries(Memory& memory, std::initializer_list<const char*> ids) {
  std::vector<ShelfEntry> made;
  for (const char* id : ids) made.push_back(memory.entry(id));
  return made;
}

// A model that leaves when it may, and gives its memory back only then.
struct Lingering {
  ShelfEntry entry(std::string id) {
    return {.card = {.id = std::move(id)}, .load = [this]() -> Loaded {
              if (is_here.exchange(true)) return Error{ErrorKind::unavailable, "no memory"};
              return std::shared_ptr<const Decider>(new FakeDecider, [this](FakeDecider* decider) {
                is_leaving = true;
                while (!may_leave) std::this_thread::sleep_for(milliseconds(1));
                delete decider;
                is_here = false;
              });
            }};
  }

  std::atomic<bool> is_here = false;
  std::atomic<bool> is_leaving = false;
  std::atomic<bool> may_leave = false;
};

// Waits until all models that are expected are there, or one cannot be.
Status await_start(const ModelShelf& shelf) {
  return shelf.await_start(milliseconds(5000)).value_or(Error{ErrorKind::deadline, "too late"});
}

// What `is` says within two seconds.
template <class Is>
bool becomes(const Is& is) {
  for (int i = 0; i < 1000 && !is(); ++i) std::this_thread::sleep_for(milliseconds(2));
  return is();
}

// Asks until the model is there, as clients do that are told to come back.
std::shared_ptr<const Decider> await(ModelShelf& shelf, const std::string& name) {
  for (int i = 0; i < 1000; ++i) {
    const Loaded found = shelf.find(name);
    if (found.ok()) return found.value();
    EXPECT_EQ(found.error().kind, ErrorKind::unavailable);
    std::this_thread::sleep_for(milliseconds(2));
  }
  return nullptr;
}

TEST(ModelShelf, TheFirstIsLoadedAtOnceAndTheOthersWhenAskedFor) {
  Memory memory(3);
  ModelShelf shelf(entries(memory, {"a", "b", "c"}), {});
  ASSERT_TRUE(await_start(shelf).ok());
  EXPECT_TRUE(shelf.ready());
  EXPECT_EQ(shelf.loaded(), std::vector<int>{0});
  EXPECT_NE(await(shelf, "c"), nullptr);
  EXPECT_EQ(shelf.loaded(), (std::vector<int>{0, 2}));
}

TEST(ModelShelf, ANameMeansItsModelAndAnAliasTheFirst) {
  Memory memory(2);
  ModelShelf shelf(entries(memory, {"a", "b"}), {});
  const auto first = await(shelf, "a");
  for (const char* name : {"", "jev-latest", "jev-preview", "a:latest"}) {
    EXPECT_EQ(await(shelf, name), first) << name;
  }
  EXPECT_NE(await(shelf, "b"), first);
  for (const char* name : {"c", "A", "b:7b"}) {
    const Loaded unknown = shelf.find(name);
    ASSERT_FALSE(unknown.ok()) << name;
    EXPECT_EQ(status_of(unknown.error()), 400);
  }
}

TEST(ModelShelf, OtherNamesMeanTheirModelUnlessOneIsCalledSo) {
  Memory memory(3);
  auto some = entries(memory, {"a", "b", "c"});
  some[1].card.other_names = {"bee", "c"};
  ModelShelf shelf(std::move(some), {});
  EXPECT_EQ(await(shelf, "bee"), await(shelf, "b"));
  EXPECT_EQ(await(shelf, "bee:latest"), await(shelf, "b"));
  EXPECT_NE(await(shelf, "c"), await(shelf, "b"));
}

TEST(ModelShelf, WhereThereIsOneModelNamesOfHostedServicesMeanIt) {
  Memory memory(1);
  ModelShelf shelf(entries(memory, {"a"}), {});
  for (const char* name : {"gpt-6-luna", "jev-1.13", "typesafe/jev-1.13-20260917", "default"}) {
    EXPECT_EQ(await(shelf, name), await(shelf, "a")) << name;
  }
  for (const char* name : {"b", "jev", "a-gpt-6", "gpt-6/b"}) {
    const Loaded unknown = shelf.find(name);
    ASSERT_FALSE(unknown.ok()) << name;
    EXPECT_EQ(status_of(unknown.error()), 400);
  }
}

TEST(ModelShelf, EveryNameMeansTheOneModelWhenAsked) {
  Memory memory(2);
  ModelShelf one(entries(memory, {"a"}), {.any_name = true});
  EXPECT_EQ(await(one, "whatever"), await(one, "a"));
  ModelShelf two(entries(memory, {"a", "b"}), {.any_name = true});
  EXPECT_FALSE(two.find("whatever").ok());
}

TEST(ModelShelf, TheLeastRecentlyUsedMakesRoom) {
  Memory memory(2);
  ModelShelf shelf(entries(memory, {"a", "b", "c"}), {});
  await(shelf, "b");
  await(shelf, "a");
  await(shelf, "c");
  EXPECT_EQ(shelf.loaded(), (std::vector<int>{0, 2}));
}

TEST(ModelShelf, APassIsMadeRoomForByWhatNobodyUsesLeastRecentlyUsedFirst) {
  Memory memory(4);
  std::vector<ShelfEntry> made = entries(memory, {"a", "b", "c", "d"});
  made[1].pinned = true;
  ModelShelf shelf(std::move(made), {});
  const auto used = await(shelf, "a");
  for (const char* name : {"b", "c", "d", "c"}) await(shelf, name);
  std::uint64_t left_seen = 0, others_left_seen = 0;
  EXPECT_TRUE(shelf.make_room(left_seen));
  EXPECT_EQ(shelf.loaded(), (std::vector<int>{0, 1, 2}));
  EXPECT_TRUE(shelf.make_room(left_seen));
  EXPECT_EQ(shelf.loaded(), (std::vector<int>{0, 1}));
  EXPECT_FALSE(shelf.make_room(left_seen)) << "a is used and b is pinned";
  EXPECT_TRUE(shelf.make_room(others_left_seen)) << "somebody else has been put away meanwhile";
  EXPECT_FALSE(shelf.make_room(others_left_seen));
  EXPECT_NE(await(shelf, "d"), nullptr);
}

TEST(ModelShelf, AModelThatIsLeavingComesBackOnceItHasLeft) {
  Memory memory(1);
  Lingering slow;
  std::vector<ShelfEntry> made = entries(memory, {"a"});
  made.front().pinned = true;
  made.push_back(slow.entry("slow"));
  ModelShelf shelf(std::move(made), {});
  await(shelf, "slow");
  auto room = std::async([&] {
    std::uint64_t left_seen = 0;
    return shelf.make_room(left_seen);
  });
  EXPECT_TRUE(becomes([&] { return slow.is_leaving.load(); }));
  for (int i = 0; i < 50; ++i) {
    const Loaded found = shelf.find("slow");
    EXPECT_TRUE(!found.ok() && found.error().message() == "slow is being loaded");
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_TRUE(shelf.ready()) << "who only looks does not wait";
  slow.may_leave = true;
  EXPECT_TRUE(room.get());
  EXPECT_NE(await(shelf, "slow"), nullptr);
}

TEST(ModelShelf, WhoNeedsRoomWaitsForThoseWhoAreLeaving) {
  Lingering slow;
  ModelShelf shelf({slow.entry("slow")}, {.idle_timeout = milliseconds(1)});
  EXPECT_TRUE(becomes([&] { return slow.is_leaving.load(); }));
  auto room = std::async([&] {
    std::uint64_t left_seen = 0;
    return shelf.make_room(left_seen) && !slow.is_here;
  });
  EXPECT_EQ(room.wait_for(milliseconds(50)), std::future_status::timeout);
  slow.may_leave = true;
  EXPECT_TRUE(room.get());
}

TEST(ModelShelf, NobodyMakesRoomForAModelThatNeverFits) {
  Memory memory(2);
  std::vector<ShelfEntry> made = entries(memory, {"a", "b", "giant"});
  made[2].load = []() -> Loaded {
    return Error{ErrorKind::unavailable, {{{}, kNeverFitsFault, "no memory"}}};
  };
  ModelShelf shelf(std::move(made), {});
  await(shelf, "b");
  EXPECT_TRUE(becomes([&] {
    const Loaded found = shelf.find("giant");
    return !found.ok() && found.error().message() == "giant could not be loaded";
  }));
  EXPECT_EQ(shelf.loaded(), (std::vector<int>{0, 1}));
}

TEST(ModelShelf, AModelInUseIsNotTakenAway) {
  Memory memory(1);
  ModelShelf shelf(entries(memory, {"a", "b"}), {});
  auto used = await(shelf, "a");
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(shelf.find("b").ok());
    std::this_thread::sleep_for(milliseconds(2));
  }
  EXPECT_EQ(shelf.loaded(), std::vector<int>{0});
  used = nullptr;
  EXPECT_NE(await(shelf, "b"), nullptr);
}

TEST(ModelShelf, AnIdleModelIsPutAwayAndComesBackWhenAskedFor) {
  Memory memory(1);
  ModelShelf shelf(entries(memory, {"a"}), {.idle_timeout = milliseconds(1)});
  await(shelf, "a");
  EXPECT_TRUE(becomes([&] { return shelf.loaded().empty(); }));
  EXPECT_TRUE(shelf.ready()) << "it only has to be asked";
  EXPECT_NE(await(shelf, "a"), nullptr);
}

TEST(ModelShelf, WhatIsPinnedIsLoadedAtOnceAndStays) {
  Memory memory(3);
  std::vector<ShelfEntry> made = entries(memory, {"a", "b", "c", "d"});
  made[2].pinned = true;
  ModelShelf shelf(std::move(made), {.idle_timeout = milliseconds(1)});
  ASSERT_TRUE(await_start(shelf).ok());
  EXPECT_TRUE(shelf.ready());
  EXPECT_TRUE(becomes([&] { return shelf.loaded() == std::vector<int>{2}; })) << "a is idle";
  await(shelf, "b");
  EXPECT_TRUE(becomes([&] { return shelf.loaded() == std::vector<int>{2}; })) << "b is idle";
}

TEST(ModelShelf, WhatIsPinnedMakesNoRoom) {
  Memory memory(2);
  std::vector<ShelfEntry> made = entries(memory, {"a", "b", "c"});
  made[1].pinned = true;
  ModelShelf shelf(std::move(made), {});
  ASSERT_TRUE(await_start(shelf).ok());
  await(shelf, "a");
  EXPECT_NE(await(shelf, "c"), nullptr);
  EXPECT_EQ(shelf.loaded(), (std::vector<int>{1, 2}));
}

TEST(ModelShelf, AModelIsWarmBeforeAnybodyHasIt) {
  for (const bool warms_up : {false, true}) {
    const auto decider = std::make_shared<FakeDecider>();
    ModelShelf shelf(
        {{.card = {.id = "a"},
          .load = [&]() -> Loaded { return std::shared_ptr<const Decider>(decider); }}},
        {.warms_up = warms_up});
    ASSERT_TRUE(await_start(shelf).ok());
    EXPECT_EQ(decider->warm_up_count, warms_up ? 1 : 0);
  }
}

TEST(ModelShelf, AModelWhoseFileHasChangedIsTakenAwayEvenFromThoseWhoUseIt) {
  std::atomic<bool> file_is_whole = true;
  std::mutex mutex;
  std::vector<std::string> reported;
  const auto load = [&]() -> Loaded {
    if (!file_is_whole) return Error{ErrorKind::bad_model, "cut off"};
    return std::shared_ptr<const Decider>(std::make_shared<FakeDecider>());
  };
  const auto report = [&](const std::string& id, const Status& status) {
    std::lock_guard lock(mutex);
    reported.push_back(id + ": " + (status.ok() ? "loaded" : status.error().message()));
  };
  ModelShelf shelf({{.card = {.id = "a"}, .load = load}},
                   {.retry_pause = milliseconds(10), .report = report});
  const auto used = await(shelf, "a");
  file_is_whole = false;
  static_cast<const FakeDecider&>(*used).is_usable = false;
  EXPECT_TRUE(becomes([&] { return !shelf.ready(); }));
  const Loaded found = shelf.find("a");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().kind, ErrorKind::unavailable);
  file_is_whole = true;
  EXPECT_TRUE(becomes([&] { return shelf.ready(); })) << "nobody has to ask for it";
  EXPECT_NE(await(shelf, "a"), used);
  std::lock_guard lock(mutex);
  ASSERT_GE(reported.size(), 4u);
  EXPECT_EQ(reported[0], "a: loaded");
  EXPECT_EQ(reported[1], "a: its file was changed or cut off");
  EXPECT_EQ(reported[2], "a: cut off");
  EXPECT_EQ(reported.back(), "a: loaded");
}

TEST(ModelShelf, AModelThatCannotBeLoadedSaysSoAndIsTriedAgain) {
  std::atomic<int> attempt_count = 0;
  std::vector<ShelfEntry> broken = {
      {.card = {.id = "a"}, .load = [&]() -> Loaded {
         if (++attempt_count < 3) return Error{ErrorKind::bad_model, "/secret/a.gguf: damaged"};
         return std::shared_ptr<const Decider>(std::make_shared<FakeDecider>());
       }}};
  ModelShelf shelf(std::move(broken), {});
  const Status first = await_start(shelf);
  ASSERT_FALSE(first.ok());
  EXPECT_EQ(first.error().kind, ErrorKind::bad_model);
  const Loaded found = shelf.find("a");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().message().find("secret"), std::string::npos) << "errors name no paths";
  EXPECT_NE(await(shelf, "a"), nullptr);
}

}  // namespace
}  // namespace adjudge::serve
