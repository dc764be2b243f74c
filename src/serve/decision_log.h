// What was decided, a JSON line per request: ids, hashes, probabilities, the model's fingerprint.
// For audits, drift and `adjudge replay`. What was asked is only in it when told so.
#pragma once

#include <cstdio>
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
};

class DecisionLog {
 public:
  // Appends to the file. `cards` outlive this.
  static Result<std::unique_ptr<DecisionLog>> open(const DecisionLogOptions& options,
                                                   std::span<const ModelCard> cards);

  // From any thread. After a write that failed (the disk is full) nothing more is written.
  void write(const DecisionRecord& record);
  bool failed() const;

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  DecisionLog(const DecisionLogOptions& options, std::span<const ModelCard> cards)
      : options_(options), cards_(cards) {}

  const DecisionLogOptions options_;
  const std::span<const ModelCard> cards_;
  mutable std::mutex mutex_;  // of what follows
  std::unique_ptr<std::FILE, Close> file_;
  bool failed_ = false;
};

// 32 hex digits of what a request asks, however it was spelled.
std::string hash_of(const Request& request);

}  // namespace adjudge::serve
