#include "serve/decision_log.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "json/print.h"
#include "protocol/systemone.h"

namespace adjudge::serve {

namespace {

using json::Value;

std::int64_t milliseconds_since_1970() {
  // tidy: allow wall-clock: people read when it was; nothing is measured with it
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

Value value_of(const Answer& answer) {
  std::vector<Value> probabilities;
  for (const double p : answer.probabilities) probabilities.push_back(json::real(p));
  return json::object({{"type", json::string(kind_name(answer.kind))},
                       {"probabilities", json::array(std::move(probabilities))}});
}

}  // namespace

std::string hash_of(const Request& request) {
  Request asked = request;
  asked.model.clear();
  const std::string text = print_request(asked);
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  std::array<char, 40> digits;
  std::snprintf(digits.data(), digits.size(), "%016llx%016llx",
                static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return digits.data();
}

Result<std::unique_ptr<DecisionLog>> DecisionLog::open(const DecisionLogOptions& options,
                                                       std::span<const ModelCard> cards) {
  std::unique_ptr<DecisionLog> log(new DecisionLog(options, cards));
  log->file_.reset(std::fopen(options.path.c_str(), "ab+"));
  if (log->file_ == nullptr) {
    return Error{ErrorKind::unavailable,
                 options.path + ": cannot write the decision log: " + std::strerror(errno)};
  }
  std::FILE* file = log->file_.get();
  std::setvbuf(file, nullptr, _IONBF, 0);  // what is written is written, whenever we end
  // A server that was killed may have left half a line.
  log->torn_ = std::fseek(file, -1, SEEK_END) == 0 && std::fgetc(file) != '\n';
  std::fseek(file, 0, SEEK_END);
  return log;
}

void DecisionLog::write(const DecisionRecord& record) {
  if (!record.response.ok()) return;
  const Response& response = record.response.value();
  const auto card = std::ranges::find(cards_, response.model, &ModelCard::id);
  std::vector<json::Member> answers;
  for (const Answer& answer : response.answers) answers.push_back({answer.id, value_of(answer)});
  std::vector<json::Member> members = {
      {"time_ms", json::integer(milliseconds_since_1970())},
      {"id", json::string(record.id)},
      {"model", json::string(response.model)},
      {"fingerprint", json::string(card == cards_.end() ? "" : card->fingerprint)},
      {"request", json::string(hash_of(record.request))},
      {"answers", json::object(std::move(answers))}};
  if (options_.with_requests)
    members.push_back({"body", json::string(print_request(record.request))});
  const std::string line =
      json::print(json::object(std::move(members)), json::Flavour::compact) + "\n";
  std::lock_guard lock(mutex_);
  append(line);
}

void DecisionLog::append(const std::string& line) {
  const std::string text = (torn_ ? "\n" : "") + line;
  errno = 0;
  const std::size_t written = std::fwrite(text.data(), 1, text.size(), file_.get());
  std::clearerr(file_.get());
  if (written == text.size()) {
    torn_ = false;
    const int lost_count = std::exchange(lost_count_, 0);
    if (lost_count == 0 || !options_.report) return;
    return options_.report("the decision log goes on; lines lost: " + std::to_string(lost_count));
  }
  torn_ = torn_ || written > 0;
  if (lost_count_++ > 0 || !options_.report) return;
  options_.report("the decision log cannot be written: " + std::string(std::strerror(errno)) +
                  "; decisions go on without it");
}

}  // namespace adjudge::serve
