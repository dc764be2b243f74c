// An HTTP server on 127.0.0.1 that serves one content, as well or as badly as a test asks.
#pragma once

#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace adjudge::testing {

struct LoopbackOptions {
  bool knows_ranges = true;          // false: sends everything, whatever was asked
  std::size_t bytes_per_answer = 0;  // more than that is promised and never comes; 0: all comes
};

class LoopbackServer {
 public:
  LoopbackServer(std::string content, LoopbackOptions options);
  ~LoopbackServer();

  std::string url() const;
  // The Range headers of the requests so far that had one.
  std::vector<std::string> ranges() const;

 private:
  void serve();
  void answer(int connection);

  const std::string content_;
  const LoopbackOptions options_;
  int listener_ = -1;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::string> ranges_;
  std::thread thread_;
};

}  // namespace adjudge::testing
