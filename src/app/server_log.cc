#include "app/server_log.h"

#include <spdlog/async.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "json/print.h"

namespace adjudge::app {

namespace {

constexpr int kLinesWaitingMax = 8192;

// The rest of the object is the line.
constexpr const char* kJsonPattern = R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})";
constexpr const char* kTextPattern = "%Y-%m-%dT%H:%M:%S.%eZ %^%l%$ %v";

}  // namespace

ServerLog::ServerLog(bool json) : json_(json) {
  spdlog::init_thread_pool(kLinesWaitingMax, 1);
  log_ = std::make_shared<spdlog::async_logger>(
      "serve", std::make_shared<spdlog::sinks::stderr_sink_mt>(), spdlog::thread_pool(),
      spdlog::async_overflow_policy::overrun_oldest);
  log_->set_pattern(json ? kJsonPattern : kTextPattern, spdlog::pattern_time_type::utc);
}

ServerLog::~ServerLog() {
  log_ = nullptr;
  spdlog::shutdown();
}

std::string ServerLog::line_of(const std::string& message) const {
  return json_ ? "\"message\":" + json::quote(message) : message;
}

void ServerLog::info(const std::string& message) { log_->info("{}", line_of(message)); }
void ServerLog::warn(const std::string& message) { log_->warn("{}", line_of(message)); }

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
