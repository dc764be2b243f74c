// A server's log on standard error, as text or as a JSON object a line. Written by a thread of its
// own: a reader who does not read costs lines, never answers, and keeps nobody from ending.
#pragma once

#include <memory>
#include <string>

#include "serve/http.h"

namespace spdlog {
class logger;
namespace details {
class thread_pool;
}
}  // namespace spdlog

namespace adjudge::app {

class ServerLog {
 public:
  explicit ServerLog(bool json);
  ~ServerLog();
  ServerLog(const ServerLog&) = delete;
  ServerLog& operator=(const ServerLog&) = delete;

  void info(const std::string& message);
  void warn(const std::string& message);
  void request(const serve::RequestRecord& record);

 private:
  class Sink;

  bool json_;
  std::shared_ptr<Sink> sink_;
  std::shared_ptr<spdlog::details::thread_pool> lines_;  // that wait to be written
  std::shared_ptr<spdlog::logger> log_;
};

}  // namespace adjudge::app
