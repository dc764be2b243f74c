// For tests: a model that answers at once or when told to, and remembers what it was asked.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "base/size.h"
#include "engine/runtime.h"
#include "protocol/error_body.h"
#include "serve/decider_source.h"

namespace adjudge::serve {

class FakeDecider final : public Decider {
 public:
  struct Pass {
    std::vector<std::string> states;
    bool stopped = false;
  };

  // A request weighs as much as its state has bytes.
  Result<PreparedPtr> prepare(Request request) const override {
    auto prepared = std::make_unique<Prepared>();
    prepared->token_count = count_of(request.state.text);
    if (prepared->token_count > token_count_max) {
      return Error{ErrorKind::too_large, "at most " + std::to_string(token_count_max) + " tokens"};
    }
    prepared->request = std::move(request);
    prepared->decider = shared_from_this();
    return PreparedPtr(std::move(prepared));
  }

  std::vector<Result<Response>> decide(std::span<const Prepared* const> requests,
                                       std::stop_token stop) const override {
    std::unique_lock lock(mutex_);
    ++begun_count_;
    changed_.notify_all();
    changed_.wait(lock, stop, [&] { return !held_; });
    Pass pass{{}, stop.stop_requested()};
    std::vector<Result<Response>> responses;
    for (const Prepared* prepared : requests) {
      pass.states.push_back(prepared->request.state.text);
      responses.push_back(answer(prepared->request, pass.stopped));
    }
    passes_.push_back(pass);
    changed_.notify_all();
    return responses;
  }

  Status warm_up() const override {
    ++warm_up_count;
    return Done{};
  }
  bool usable() const override { return is_usable; }
  mutable std::atomic<int> warm_up_count = 0;
  mutable std::atomic<bool> is_usable = true;     // says whether its file is as it was
  mutable std::atomic<bool> finds_memory = true;  // for its passes
  mutable std::atomic<bool> never_finds_memory = false;

  // Passes wait until they are released or stopped.
  void hold() {
    std::lock_guard lock(mutex_);
    held_ = true;
  }
  void release() {
    std::lock_guard lock(mutex_);
    held_ = false;
    changed_.notify_all();
  }
  bool has_begun() const {
    std::lock_guard lock(mutex_);
    return begun_count_ > 0;
  }
  void await_begun(int count) const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return begun_count_ >= count; });
  }
  std::vector<Pass> await_passes(int count) const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return count_of(passes_) >= count; });
    return passes_;
  }

  int token_count_max = 1 << 20;
  bool truncates = false;  // says that it cut the first option

 private:
  Result<Response> answer(const Request& request, bool stopped) const {
    if (stopped) return Error{ErrorKind::cancelled, "given up"};
    if (never_finds_memory) {
      return Error{ErrorKind::unavailable, {{{}, kNeverFitsFault, "never any memory"}}};
    }
    if (!finds_memory) return Error{ErrorKind::unavailable, "no memory"};
    Response response{.model = "fake"};
    for (const Question& question : request.questions) {
      Answer answer{.id = question.id, .kind = question.kind};
      answer.probabilities.assign(question.options.size(), 1.0 / count_of(question.options));
      answer.value = 0.5;
      if (truncates) answer.truncation.options_cut = {0};
      response.answers.push_back(answer);
    }
    response.usage.input_tokens = count_of(request.state.text);
    return response;
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  mutable int begun_count_ = 0;
  mutable std::vector<Pass> passes_;
  bool held_ = false;
};

// Knows every name but "none".
class FakeSource final : public DeciderSource {
 public:
  Result<std::shared_ptr<const Decider>> find(const std::string& model) override {
    if (model == "none") {
      return Error{ErrorKind::not_supported, {{{"model"}, kUnknownModelFault, "no such model"}}};
    }
    if (!is_ready) return Error{ErrorKind::unavailable, "loading"};
    return std::shared_ptr<const Decider>(decider);
  }
  bool ready() const override { return is_ready; }

  const std::shared_ptr<FakeDecider> decider = std::make_shared<FakeDecider>();
  std::atomic<bool> is_ready = true;
};

}  // namespace adjudge::serve
