// A server's log on standard error, as text or as a JSON object a line. Written by a thread of its
// own: a reader who does not read costs lines, never answers.
#pragma once

#include <spdlog/logger.h>

#include <memory>
#include <string>

#include "serve/http.h"

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
  std::string line_of(const std::string& message) const;

  bool json_;
  std::shared_ptr<spdlog::logger> log_;
};

}  // namespace adjudge::app
