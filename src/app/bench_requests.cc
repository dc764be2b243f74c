#include "app/bench_requests.h"

#include <array>
#include <random>
#include <string>

#include "base/size.h"

namespace adjudge::app {

namespace {

constexpr std::array kWords = {"order",   "refund",   "invoice",  "parcel", "card",    "payment",
                               "address", "customer", "window",   "camera", "screen",  "update",
                               "account", "garden",   "contract", "offer",  "meeting", "weather",
                               "bridge",  "market",   "engine",   "winter", "silver",  "paper",
                               "orange",  "teacher"};

std::string word(int index) { return kWords[at(index) % kWords.size()]; }

std::string state_text(int word_count, std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  std::string text = "Case " + std::to_string(seed) + ":";
  for (int i = 0; i < word_count; ++i) text += " " + word(static_cast<int>(draw() % kWords.size()));
  return text + ".";
}

Question choice(std::uint64_t seed, int option_count) {
  Question question{
      .id = "topic" + std::to_string(seed),
      .kind = QuestionKind::choice,
      .instructions = json::string("Which topic fits case " + std::to_string(seed) + " best?"),
      .options = {}};
  for (int i = 0; i < option_count; ++i) {
    question.options.push_back({word(i) + std::to_string(i), json::null()});
  }
  return question;
}

Question noul(std::uint64_t seed) {
  return {.id = "money" + std::to_string(seed),
          .kind = QuestionKind::noul,
          .instructions = json::string("Is case " + std::to_string(seed) + " about money?"),
          .options = {{"false", json::null()}, {"true", json::null()}}};
}

Question score(std::uint64_t seed) {
  return {.id = "urgency" + std::to_string(seed),
          .kind = QuestionKind::score,
          .instructions = json::string("How urgent is case " + std::to_string(seed) + "?"),
          .options = {{"0", json::string("can wait")},
                      {"1", json::string("this week")},
                      {"2", json::string("today")}}};
}

std::vector<Question> one(std::uint64_t seed) { return {choice(seed, 4)}; }

std::vector<Question> three(std::uint64_t seed) {
  return {choice(seed, 4), noul(seed), score(seed)};
}

std::vector<Question> eight(std::uint64_t seed) {
  std::vector<Question> questions;
  for (std::uint64_t i = 0; i < 4; ++i) {
    questions.push_back(choice(seed * 4 + i, 4));
    questions.push_back(noul(seed * 4 + i));
  }
  return questions;
}

std::vector<Question> sixty_options(std::uint64_t seed) { return {choice(seed, 60)}; }

// States of about 60, 190 and 350 tokens.
constexpr RequestShape kShapes[] = {
    {"short", "one question about a short text", 45, one},
    {"one", "one question", 150, one},
    {"three", "three questions", 150, three},
    {"eight", "eight questions, longer state", 290, eight},
    {"follow-up", "three new questions, state seen before", 150, three, true},
    {"sixty-options", "one question of sixty options", 150, sixty_options}};

}  // namespace

std::span<const RequestShape> request_shapes() { return kShapes; }

Request make_request(const RequestShape& shape, std::uint64_t seed, bool before) {
  constexpr std::uint64_t kOthers = 1'000'000;  // further than any seed goes
  Request request;
  request.state = json::string(state_text(shape.state_words, seed));
  request.questions = shape.questions(before ? seed + kOthers : seed);
  return request;
}

}  // namespace adjudge::app
