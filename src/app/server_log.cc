#include "app/server_log.h"

#include <spdlog/async.h>
#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>

#include <atomic>
#include <chrono>
#include <string_view>

#include "base/os/standard_streams.h"
#include "json/print.h"

namespace adjudge::app {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLinesWaitingMax = 8192;
// How long a reader that does not read may keep the process from ending.
constexpr std::chrono::milliseconds kLastWait{500};
constexpr const char* kName = "serve";

// The rest of the object is the line.
constexpr const char* kJsonPattern = R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})";
constexpr const char* kTextPattern = "%Y-%m-%dT%H:%M:%S.%eZ %^%l%$ %v";

std::string line_of(bool json, const std::string& message) {
  return json ? "\"message\":" + json::quote(message) : message;
}

}  // namespace

// Where the log's own thread writes: the only one that does, and that waits for the reader.
class ServerLog::Sink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit Sink(bool json) : json_(json) {}

  // The thread that hands over lines, and forgets the oldest when too many wait.
  void tell_losses_of(spdlog::details::thread_pool& lines) { lines_ = &lines; }
  void hurry() { end_ = (Clock::now() + kLastWait).time_since_epoch().count(); }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const std::size_t lost_count = lines_->overrun_counter();
    if (lost_count > told_count_) {
      const std::string told = line_of(
          json_, std::to_string(lost_count - told_count_) + " lines were lost: nobody read them");
      told_count_ = lost_count;
      write({kName, spdlog::level::warn, told});
    }
    write(message);
  }
  void flush_() override {}

  void write(const spdlog::details::log_msg& message) {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    const auto is_late = [this] { return Clock::now().time_since_epoch().count() > end_; };
    write_to_stderr({line.data(), line.size()}, is_late);
  }

  const bool json_;
  spdlog::details::thread_pool* lines_ = nullptr;
  std::size_t told_count_ = 0;
  std::atomic<Clock::rep> end_ = Clock::time_point::max().time_since_epoch().count();
};

ServerLog::ServerLog(bool json)
    : json_(json),
      sink_(std::make_shared<Sink>(json)),
      lines_(std::make_shared<spdlog::details::thread_pool>(kLinesWaitingMax, 1)) {
  sink_->tell_losses_of(*lines_);
  log_ = std::make_shared<spdlog::async_logger>(kName, sink_, lines_,
                                                spdlog::async_overflow_policy::overrun_oldest);
  log_->set_pattern(json ? kJsonPattern : kTextPattern, spdlog::pattern_time_type::utc);
}

ServerLog::~ServerLog() {
  sink_->hurry();
  lines_ = nullptr;  // ends its thread when it has handed over what waits
}

void ServerLog::info(const std::string& message) { log_->info("{}", line_of(json_, message)); }
void ServerLog::warn(const std::string& message) { log_->warn("{}", line_of(json_, message)); }

void ServerLog::request(const serve::RequestRecord& record) {
  if (json_) {
    return log_->info(R"("id":"{}","method":{},"route":"{}","status":{},"ms":{:.3f},"note":"{}")",
                      record.id, json::quote(record.method), record.route, record.status, record.ms,
                      record.note);
  }
  const auto or_dash = [](const std::string& text) { return text.empty() ? "-" : text; };
  log_->info("{} {} {} {} {:.1f}ms{}{}", record.id, or_dash(record.method), or_dash(record.route),
             record.status, record.ms, record.note.empty() ? "" : " ", record.note);
}

}  // namespace adjudge::app
