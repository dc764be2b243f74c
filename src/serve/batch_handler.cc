#include "serve/batch_handler.h"

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/size.h"
#include "base/try.h"
#include "protocol/error_body.h"
#include "protocol/systemone.h"

namespace adjudge::serve {

namespace {

// Rows that are being decided or wait for the peer to read: enough to fill passes, few enough to
// leave others their turns.
constexpr int kRowsAheadMax = 64;
// The questions are copied for every row ahead.
constexpr std::size_t kCopiedBytesMax = std::size_t{64} << 20;

// A line is an answer or an error body, with the row's number before all else.
std::string numbered(int index, const std::string& object, const std::string& more = {}) {
  return "{\"index\":" + std::to_string(index) + "," + more + object.substr(1) + "\n";
}

std::string error_line(int index, const Error& error) {
  return numbered(index, print_error(error),
                  "\"status\":" + std::to_string(status_of(error)) + ",");
}

// Lives as long as a row of it is being decided or its peer listens.
class Batch : public std::enable_shared_from_this<Batch> {
 public:
  Batch(DecisionDesk& desk, HttpCall call, SystemOneBatch rows, std::size_t body_bytes,
        std::shared_ptr<const Decider> decider)
      : desk_(desk),
        call_(std::move(call)),
        questions_(std::move(rows.questions)),
        states_(std::move(rows.states)),
        decider_(std::move(decider)),
        ahead_max_(std::max(
            1, std::min(kRowsAheadMax, static_cast<int>(kCopiedBytesMax / (body_bytes + 1))))) {}

  // The first row stands in line like any request; where there is room for it, all are let in.
  void start() {
    next_row_ = 1;
    const Status status = submit(0, false);
    if (!status.ok() && status.error().kind == ErrorKind::overloaded) {
      return call_.reply(error_response(kSystemOne, status.error(), desk_.queue));
    }
    if (!status.ok()) lines_[0] = error_line(0, status.error());
    HttpResponse response{.note = "rows=" + std::to_string(states_.size())};
    response.content_type = "application/x-ndjson";
    response.source = [self = shared_from_this()](std::function<void(BodyPiece)> deliver) {
      self->want(std::move(deliver));
    };
    call_.reply(std::move(response));
    advance();
  }

 private:
  int row_count() const { return count_of(states_); }

  // On the I/O thread: the peer has room for more.
  void want(std::function<void(BodyPiece)> deliver) {
    {
      std::lock_guard lock(mutex_);
      deliver_ = std::move(deliver);
    }
    flush();
    desk_.pool.submit([self = shared_from_this()] { self->advance(); });
  }

  // On a pool thread: as many rows as may be ahead.
  void advance() {
    while (const std::optional<int> row = take_row()) {
      if (Status status = submit(*row, true); !status.ok()) {
        finish(*row, error_line(*row, status.error()));
      }
    }
  }

  std::optional<int> take_row() {
    std::lock_guard lock(mutex_);
    if (call_.gone.stop_requested()) next_row_ = row_count();
    if (next_row_ == row_count() || next_row_ - next_line_ >= ahead_max_) return std::nullopt;
    return next_row_++;
  }

  Status submit(int row, bool let_in) {
    json::Value& state = states_[at(row)];
    if (state.is_null()) {
      return Error{ErrorKind::bad_request,
                   {{{"states", std::to_string(row)}, "missing", "a state must not be null"}}};
    }
    Request request = questions_;
    request.state = std::move(state);
    ADJ_TRY(PreparedPtr prepared, decider_->prepare(std::move(request)));
    Waiting waiting{.client = call_.request.client, .let_in = let_in, .gone = call_.gone};
    waiting.parts.push_back(std::move(prepared));
    waiting.done = [self = shared_from_this(), row](Decided decided) {
      auto shared = std::make_shared<Decided>(std::move(decided));
      self->desk_.pool.submit([self, row, shared] { self->on_decided(row, *shared); });
    };
    return desk_.queue.submit(std::move(waiting));
  }

  void on_decided(int row, const Decided& decided) {
    observe(desk_, call_.request.id, decided);
    const Result<Response>& response = decided.responses.front();
    finish(row, response.ok()
                    ? numbered(row, print_systemone(response.value(), decided.parts[0]->request))
                    : error_line(row, response.error()));
    advance();
  }

  void finish(int row, std::string line) {
    {
      std::lock_guard lock(mutex_);
      lines_[row] = std::move(line);
    }
    flush();
  }

  // Hands over the lines whose turn it is, if the peer has room.
  void flush() {
    std::function<void(BodyPiece)> deliver;
    BodyPiece piece;
    {
      std::lock_guard lock(mutex_);
      if (!deliver_) return;
      while (!lines_.empty() && lines_.begin()->first == next_line_) {
        piece.text += lines_.begin()->second;
        lines_.erase(lines_.begin());
        ++next_line_;
      }
      piece.last = next_line_ == row_count() || call_.gone.stop_requested();
      if (piece.text.empty() && !piece.last) return;
      deliver = std::exchange(deliver_, nullptr);
    }
    deliver(std::move(piece));
  }

  DecisionDesk& desk_;
  const HttpCall call_;
  const Request questions_;
  std::vector<json::Value> states_;  // each is taken once
  const std::shared_ptr<const Decider> decider_;
  const int ahead_max_;
  std::mutex mutex_;  // of what follows
  int next_row_ = 0;
  int next_line_ = 0;
  std::map<int, std::string> lines_;  // made, and not sent
  std::function<void(BodyPiece)> deliver_;
};

Status begin(DecisionDesk& desk, HttpCall& call) {
  ADJ_TRY(const std::string body, plain_body(call.request, desk.limits));
  ADJ_TRY(SystemOneBatch rows, parse_systemone_batch(body, desk.limits));
  ADJ_TRY(auto decider, desk.source.find(rows.questions.model));
  std::make_shared<Batch>(desk, std::move(call), std::move(rows), body.size(), std::move(decider))
      ->start();
  return Done{};
}

}  // namespace

HttpHandler batch_handler(DecisionDesk& desk) {
  return [&desk](HttpCall call) {
    auto shared = std::make_shared<HttpCall>(std::move(call));
    desk.pool.submit([&desk, shared] {
      if (const Status begun = begin(desk, *shared); !begun.ok()) {
        shared->reply(error_response(kSystemOne, begun.error(), desk.queue));
      }
    });
  };
}

}  // namespace adjudge::serve
