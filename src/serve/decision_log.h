// What was decided, a JSON line per request: ids, hashes, probabilities, the model's fingerprint.
// For audits, drift and `adjudge replay`. What was asked is only in it when told so.
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "serve/decision_handler.h"
#include "serve/models_page.h"

namespace adjudge::serve {

struct DecisionLogOptions {
  std::string path;
  bool with_requests = false;  // the whole request too, which a replay needs
  // Told when writing begins to fail and when it goes on; from any thread, may be empty.
  std::function<void(const std::string&)> report;
};

class DecisionLog {
 public:
  // Appends to the file. `cards` outlive this.
  static Result<std::unique_ptr<DecisionLog>> open(const DecisionLogOptions& options,
                                                   std::span<const ModelCard> cards);

  // From any thread. What cannot be written (the disk is full) is lost and counted; the next line
  // is tried again, and begins on a line of its own.
  void write(const DecisionRecord& record);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  DecisionLog(const DecisionLogOptions& options, std::span<const ModelCard> cards)
      : options_(options), cards_(cards) {}
  void append(const std::string& line);

  const DecisionLogOptions options_;
  const std::span<const ModelCard> cards_;
  std::mutex mutex_;  // of what follows
  std::unique_ptr<std::FILE, Close> file_;
  bool torn_ = false;   // the last line has no end
  int lost_count_ = 0;  // since writing began to fail
};

// 32 hex digits of what a request asks, however it was spelled.
std::string hash_of(const Request& request);

}  // namespace adjudge::serve
