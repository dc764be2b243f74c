#include "serve/decision_log.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "json/print.h"
#include "protocol/systemone.h"

namespace adjudge::serve {

namespace {

using json::Value;

std::int64_t milliseconds_since_1970() {
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
  log->file_.reset(std::fopen(options.path.c_str(), "ab"));
  if (log->file_ == nullptr) {
    return Error{ErrorKind::unavailable,
                 options.path + ": cannot write the decision log: " + std::strerror(errno)};
  }
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
  if (failed_) return;
  const bool written = std::fwrite(line.data(), 1, line.size(), file_.get()) == line.size() &&
                       std::fflush(file_.get()) == 0;
  failed_ = !written;
}

bool DecisionLog::failed() const {
  std::lock_guard lock(mutex_);
  return failed_;
}

}  // namespace adjudge::serve
