#include "serve/connection.h"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/write.hpp>
#include <charconv>
#include <cstdio>
#include <utility>

#include "base/check.h"

namespace adjudge::serve {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
using tcp = boost::asio::ip::tcp;

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Room for a chunk's header and a stretch of body beside the request's header.
constexpr std::size_t kBufferSlackBytes = std::size_t{64} << 10;
// A peer that is refused while it still sends would lose our answer to a reset, so we listen a
// little longer; a peer that sends on and on is cut off.
constexpr std::size_t kLingerBytesMax = std::size_t{1} << 20;
constexpr milliseconds kLingerTimeout{2'000};
// A day: longer deadlines are mistakes, and would overflow somewhere.
constexpr int kDeadlineMsMax = 86'400'000;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

// What the parser found wrong, as an answer; nothing where the peer has simply left.
std::optional<HttpResponse> refuse_parse(error_code error, const HttpServerOptions& options) {
  if (error == http::error::body_limit) {
    return refusal(413, "request_too_large_error",
                   "the body is over " + std::to_string(options.body_bytes_max) + " bytes");
  }
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return refusal(431, "request_too_large_error",
                   "the header is over " + std::to_string(options.header_bytes_max) + " bytes");
  }
  const bool left = error == http::error::end_of_stream || error == http::error::partial_message ||
                    error.category() != http::make_error_code(http::error::bad_value).category();
  if (left) return std::nullopt;
  return refusal(400, "invalid_request_error", "this is not HTTP/1.1: " + error.message());
}

std::string timing_text(const std::vector<Phase>& phases) {
  std::string text;
  for (const Phase& phase : phases) {
    std::array<char, 64> entry;
    std::snprintf(entry.data(), entry.size(), ";dur=%.3f", phase.ms);
    text += (text.empty() ? "" : ", ") + phase.name + entry.data();
  }
  return text;
}

// A whole number of milliseconds.
std::optional<milliseconds> read_deadline(std::string_view text) {
  int ms = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ms);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || ms < 0 || ms > kDeadlineMsMax) return std::nullopt;
  return milliseconds(ms);
}

HttpResponse too_late(milliseconds deadline) {
  return refusal(504, "timeout_error",
                 "the " + std::to_string(deadline.count()) +
                     " ms of x-deadline-ms passed before there was an answer");
}

std::string address_of(const tcp::socket& socket) {
  error_code failed;
  const auto endpoint = socket.remote_endpoint(failed);
  return failed ? std::string{} : endpoint.address().to_string();
}

}  // namespace

Connection::Connection(tcp::socket socket, ConnectionHub& hub)
    : hub_(hub),
      socket_(std::move(socket)),
      timer_(socket_.get_executor()),
      buffer_(hub.options.header_bytes_max + kBufferSlackBytes),
      peer_(address_of(socket_)) {
  error_code ignored;
  socket_.non_blocking(true, ignored);  // for end_of_input()
}

// Whether the beginning of another request is here already.
bool Connection::has_more() {
  error_code failed;
  return buffer_.size() > 0 || (socket_.available(failed) > 0 && !failed);
}

// Why nothing will ever come, if so. A socket without a byte may just have been called readable for
// bytes that somebody has read meanwhile.
error_code Connection::end_of_input() {
  char byte;
  error_code error;
  socket_.receive(asio::buffer(&byte, 1), tcp::socket::message_peek, error);
  const bool may_come = error == asio::error::would_block || error == asio::error::interrupted;
  return may_come ? error_code() : error;
}

void Connection::set_timeout(milliseconds timeout) {
  const unsigned index = ++timeout_index_;
  timer_.expires_after(timeout);
  timer_.async_wait([self = shared_from_this(), index](error_code error) {
    if (!error && index == self->timeout_index_) self->on_timeout();
  });
}

void Connection::on_timeout() {
  error_code ignored;
  if (stage_ == Stage::handling) {
    gone_.request_stop();  // whoever works on it may stop; what comes of it is too late
    socket_.cancel(ignored);
    return write(too_late(*deadline_));
  }
  if (stage_ != Stage::head && stage_ != Stage::body) return close();
  socket_.cancel(ignored);
  const milliseconds limit =
      stage_ == Stage::head ? hub_.options.header_timeout : hub_.options.body_timeout;
  refuse(refusal(408, "timeout_error",
                 std::string(stage_ == Stage::head ? "the header" : "the body") +
                     " took more than " + std::to_string(limit.count()) + " ms to arrive"));
}

void Connection::await_request() {
  hub_.body_bytes -= std::exchange(body_bytes_, 0);
  if (hub_.ending == Ending::now && !has_more()) return close();
  stage_ = Stage::idle;
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(hub_.options.header_bytes_max));
  parser_->body_limit(hub_.options.body_bytes_max);
  if (buffer_.size() > 0) return read_head();  // pipelined
  set_timeout(hub_.options.idle_timeout);
  await_byte();
}

void Connection::await_byte() {
  socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this()](error_code error) {
    if (self->stage_ != Stage::idle) return;
    if (error || self->end_of_input()) return self->close();
    if (!self->has_more()) return self->await_byte();
    self->read_head();
  });
}

void Connection::begin_request() {
  begin_ = Clock::now();
  ++request_index_;
  gone_ = std::stop_source();
  record_ = {.id = hub_.ids.next()};
  callers_id_.clear();
  deadline_.reset();
  head_only_ = false;
  version_ = 11;
}

void Connection::read_head() {
  stage_ = Stage::head;
  begin_request();
  set_timeout(hub_.options.header_timeout);
  http::async_read_header(socket_, buffer_, *parser_,
                          [self = shared_from_this()](error_code error, std::size_t) {
                            if (self->stage_ == Stage::head) self->on_head(error);
                          });
}

void Connection::on_head(error_code error) {
  if (error) {
    auto refused = refuse_parse(error, hub_.options);
    return refused ? refuse(std::move(*refused)) : close();
  }
  const auto& head = parser_->get();
  // A made-up method may be anything; the log gets none of it.
  record_.method =
      head.method() == http::verb::unknown ? "?" : std::string(view(head.method_string()));
  version_ = head.version();
  head_only_ = head.method() == http::verb::head;
  const std::string_view callers_id = view(head["x-request-id"]);
  if (is_plain_id(callers_id)) callers_id_ = callers_id;
  if (auto refused = refuse_head()) return refuse(std::move(*refused));
  stage_ = Stage::body;
  set_timeout(hub_.options.body_timeout);
  if (head.find(http::field::expect) != head.end() && !parser_->is_done()) return invite_body();
  read_body();
}

std::optional<HttpResponse> Connection::refuse_head() {
  const auto& head = parser_->get();
  if (head.version() >= 11 && head.count(http::field::host) != 1) {
    return refusal(400, "invalid_request_error", "exactly one Host header is needed");
  }
  // A body in another coding would be read as the next request (RFC 9112, 6.3).
  if (head.count(http::field::transfer_encoding) > 0 &&
      !beast::iequals(head[http::field::transfer_encoding], "chunked")) {
    return refusal(400, "invalid_request_error", "the only transfer coding read is chunked");
  }
  const auto expect = head.find(http::field::expect);
  if (expect != head.end() && !beast::iequals(expect->value(), "100-continue")) {
    return refusal(417, "invalid_request_error", "the only expectation met is 100-continue");
  }
  if (const auto deadline = head.find("x-deadline-ms"); deadline != head.end()) {
    deadline_ = read_deadline(view(deadline->value()));
    if (!deadline_) {
      return refusal(
          400, "invalid_request_error",
          "x-deadline-ms must be a whole number from 0 to " + std::to_string(kDeadlineMsMax));
    }
  }
  return std::nullopt;
}

void Connection::invite_body() {
  asio::async_write(socket_, asio::buffer(kContinue),
                    [self = shared_from_this()](error_code error, std::size_t) {
                      if (self->stage_ != Stage::body) return;
                      if (error) return self->close();
                      self->read_body();
                    });
}

// Piece by piece, so that what all peers send together stays within the hub's memory.
void Connection::read_body() {
  if (parser_->is_done()) return handle();
  http::async_read_some(socket_, buffer_, *parser_,
                        [self = shared_from_this()](error_code error, std::size_t) {
                          if (self->stage_ == Stage::body) self->on_body(error);
                        });
}

void Connection::on_body(error_code error) {
  if (error) {
    auto refused = refuse_parse(error, hub_.options);
    return refused ? refuse(std::move(*refused)) : close();
  }
  if (reserve_body(parser_->get().body().size())) return read_body();
  HttpResponse busy = refusal(503, "unavailable_error",
                              "the bodies of all requests together are over " +
                                  std::to_string(hub_.options.body_memory_max) + " bytes");
  busy.headers.push_back({"Retry-After", "1"});
  refuse(std::move(busy));
}

bool Connection::reserve_body(std::size_t bytes) {
  if (bytes - body_bytes_ > hub_.options.body_memory_max - hub_.body_bytes) return false;
  hub_.body_bytes += bytes - body_bytes_;
  body_bytes_ = bytes;
  return true;
}

HttpRequest Connection::take_request() {
  auto message = parser_->release();
  HttpRequest request{
      .id = record_.id, .client = peer_, .method = std::string(view(message.method_string()))};
  const RequestTarget target = read_target(view(message.target()));
  request.path = std::string(target.path);
  if (!target.authority.empty()) {
    message.set(http::field::host,
                beast::string_view(target.authority.data(), target.authority.size()));
  }
  for (const auto& field : message) {
    request.headers.push_back(
        {std::string(view(field.name_string())), std::string(view(field.value()))});
  }
  request.body = std::move(message.body());
  return request;
}

void Connection::handle() {
  stage_ = Stage::handling;
  timer_.cancel();
  ++timeout_index_;
  keep_alive_ = parser_->get().keep_alive();
  if (deadline_) {
    const auto passed = std::chrono::duration_cast<milliseconds>(Clock::now() - begin_);
    if (passed >= *deadline_) return write(too_late(*deadline_));
    set_timeout(*deadline_ - passed);
  }
  ++pending_count_;
  auto reply = [this, index = request_index_](HttpResponse response) {
    asio::dispatch(socket_.get_executor(), [this, index, response = std::move(response)]() mutable {
      answer(index, std::move(response));
    });
  };
  const auto self = shared_from_this();  // an answer on the spot may end the connection
  HttpCall call{take_request(), gone_.get_token(), std::move(reply)};
  if (deadline_) call.deadline = begin_ + *deadline_;
  call.routed = [this](const std::string& route) { record_.route = route; };
  hub_.handler(std::move(call));
  if (stage_ == Stage::handling) watch_peer();
}

// A peer that sends its next request early is believed to stay.
void Connection::watch_peer() {
  socket_.async_wait(tcp::socket::wait_read,
                     [self = shared_from_this(), index = request_index_](error_code error) {
                       if (error == asio::error::operation_aborted || !self->is_awaited(index))
                         return;
                       if (!error && self->has_more()) return;
                       const error_code end = error ? error : self->end_of_input();
                       if (!end) return self->watch_peer();
                       if (end == asio::error::eof && self->may_be_reached())
                         return self->watch_reset();
                       self->leave_off();
                     });
}

// A peer that sends no more may have closed its socket, or only its sending side and waits for our
// answer. The first resets the connection when we send it something: a piece of the answer, or the
// interim answer that any client may be sent (RFC 9110, 15.2) but one of HTTP/1.0, whose silence is
// taken for its leaving. It is sent once: who closes after having read it is noticed when the
// answer is written.
bool Connection::may_be_reached() {
  if (stage_ == Stage::producing) return true;
  if (version_ < 11) return false;
  error_code error;
  const std::size_t sent = socket_.write_some(asio::buffer(kContinue), error);
  // What waits to be sent already does the same.
  return error == asio::error::would_block || sent == kContinue.size();
}

void Connection::watch_reset() {
  socket_.async_wait(tcp::socket::wait_error,
                     [self = shared_from_this(), index = request_index_](error_code error) {
                       if (error == asio::error::operation_aborted) return;
                       if (self->is_awaited(index)) self->leave_off();
                     });
}

// Whether somebody still works for that request.
bool Connection::is_awaited(unsigned request_index) const {
  const bool waiting = stage_ == Stage::handling || stage_ == Stage::producing;
  return waiting && request_index == request_index_;
}

void Connection::leave_off() {
  gone_.request_stop();
  close();
}

void Connection::answer(unsigned request_index, HttpResponse response) {
  CHECK(pending_count_-- > 0);
  if (stage_ == Stage::closed) {
    if (request_index == request_index_) {
      record(response);
      log();
    }
    if (pending_count_ == 0) leave();
    return;
  }
  // After its deadline the peer has an answer already.
  if (stage_ != Stage::handling || request_index != request_index_) return;
  error_code ignored;
  socket_.cancel(ignored);
  write(std::move(response));
}

// The rest of what the peer sends is not worth reading, so this is the last answer.
void Connection::refuse(HttpResponse response) {
  keep_alive_ = false;
  write(std::move(response));
}

void Connection::start_refused(HttpResponse response) {
  begin_request();
  refuse(std::move(response));
}

void Connection::record(const HttpResponse& response) {
  record_.note = response.note;
  record_.status = response.status;
  record_.ms = std::chrono::duration<double, std::milli>(Clock::now() - begin_).count();
}

void Connection::log() {
  if (hub_.log) hub_.log(record_);
}

void Connection::write(HttpResponse response) {
  stage_ = Stage::writing;
  set_timeout(hub_.options.write_timeout);
  record(response);
  const bool chunked = static_cast<bool>(response.source) && version_ >= 11;
  // What was sent ahead is answered too: it was here before the end.
  const bool goes_on = hub_.ending == Ending::no || has_more();
  keep_alive_ = keep_alive_ && goes_on && (chunked || !response.source);
  make_response(response);
  source_ = std::move(response.source);
  if (chunked) response_.chunked(true);

  serializer_.emplace(response_);
  const auto written = [self = shared_from_this()](error_code error, std::size_t) {
    if (self->stage_ == Stage::writing) self->on_written(error);
  };
  if (head_only_ || source_) {
    http::async_write_header(socket_, *serializer_, written);
  } else {
    http::async_write(socket_, *serializer_, written);
  }
  log();  // while the answer is on its way
}

void Connection::make_response(HttpResponse& response) {
  response_ = {};
  response_.result(static_cast<unsigned>(response.status));
  response_.version(version_);
  response_.keep_alive(keep_alive_);
  response_.set(http::field::server, "adjudge");
  response_.set(http::field::content_type, response.content_type);
  response_.set("x-typesafe-request-id", record_.id);
  response_.set("x-request-id", callers_id_.empty() ? record_.id : callers_id_);
  response.phases.push_back({"total", record_.ms});
  response_.set("Server-Timing", timing_text(response.phases));
  for (const Header& header : response.headers) response_.set(header.name, header.value);
  if (response.status == 204 || response.source) return;
  response_.content_length(response.body.size());
  if (!head_only_) response_.body() = std::move(response.body);
}

void Connection::on_written(error_code error) {
  if (error) return close();
  if (source_) return produce();
  if (keep_alive_) return await_request();
  linger();
}

// The next piece is asked for when the last one is on its way: a slow reader slows the source down.
void Connection::produce() {
  stage_ = Stage::producing;
  timer_.cancel();
  ++timeout_index_;
  ++pending_count_;
  const auto self = shared_from_this();
  const BodySource source = source_;  // a last piece on the spot drops source_
  source([this](BodyPiece piece) {
    asio::dispatch(socket_.get_executor(),
                   [this, piece = std::move(piece)]() mutable { on_piece(std::move(piece)); });
  });
  if (stage_ == Stage::producing) watch_peer();
}

void Connection::on_piece(BodyPiece piece) {
  CHECK(pending_count_-- > 0);
  if (stage_ == Stage::closed) {
    if (pending_count_ == 0) leave();
    return;
  }
  stage_ = Stage::writing;
  set_timeout(hub_.options.write_timeout);
  error_code ignored;
  socket_.cancel(ignored);
  piece_ = std::move(piece.text);
  if (piece.last) source_ = nullptr;
  if (version_ >= 11) {
    std::array<char, 24> size;
    std::snprintf(size.data(), size.size(), "%zx\r\n", piece_.size());
    piece_ = piece_.empty() ? piece_ : size.data() + piece_ + "\r\n";
    if (piece.last) piece_ += "0\r\n\r\n";
  }
  asio::async_write(socket_, asio::buffer(piece_),
                    [self = shared_from_this()](error_code error, std::size_t) {
                      if (self->stage_ == Stage::writing) self->on_written(error);
                    });
}

void Connection::linger() {
  stage_ = Stage::lingering;
  set_timeout(kLingerTimeout);
  error_code ignored;
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
  linger_on();
}

void Connection::linger_on() {
  socket_.async_read_some(asio::buffer(discarded_),
                          [self = shared_from_this()](error_code error, std::size_t bytes) {
                            if (self->stage_ != Stage::lingering) return;
                            self->lingered_bytes_ += bytes;
                            if (error || self->lingered_bytes_ > kLingerBytesMax) {
                              return self->close();
                            }
                            self->linger_on();
                          });
}

void Connection::end_if_idle() {
  if (stage_ == Stage::idle && !has_more()) close();
}

void Connection::cut_off() {
  gone_.request_stop();
  close();
}

void Connection::close() {
  if (stage_ == Stage::closed) return;
  stage_ = Stage::closed;
  timer_.cancel();
  error_code ignored;
  socket_.close(ignored);
  source_ = nullptr;
  hub_.body_bytes -= std::exchange(body_bytes_, 0);
  if (pending_count_ == 0) leave();
}

void Connection::leave() {
  const auto self = shared_from_this();  // the set may have held the last one
  hub_.connections.erase(self);
  hub_.one_left();
}

}  // namespace adjudge::serve
