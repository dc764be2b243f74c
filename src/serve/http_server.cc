#include "serve/http_server.h"

#include <algorithm>
#include <array>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <cstdio>
#include <optional>
#include <set>
#include <stop_token>
#include <thread>
#include <utility>

#include "base/check.h"
#include "base/size.h"
#include "serve/request_id.h"

namespace adjudge::serve {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
using tcp = boost::asio::ip::tcp;

namespace {

using Clock = std::chrono::steady_clock;

// Room for a chunk's header and a stretch of body beside the request's header.
constexpr std::size_t kBufferSlackBytes = std::size_t{64} << 10;
// A peer that is refused while it still sends would lose our answer to a reset, so we listen a
// little longer; a peer that sends on and on is cut off.
constexpr std::size_t kLingerBytesMax = std::size_t{1} << 20;
constexpr std::chrono::milliseconds kLingerTimeout{2'000};
// Out of descriptors: the next attempt to accept comes after this.
constexpr std::chrono::milliseconds kAcceptPause{100};

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

class Connection;

// What connections share with the server. Everything but the log's and handler's own insides runs
// on the I/O thread.
struct Shared {
  HttpServerOptions options;
  HttpHandler handler;
  RequestLog log;
  RequestIds ids;
  bool draining = false;
  std::set<std::shared_ptr<Connection>> connections;
  std::function<void()> one_left;
};

// One peer, one request at a time. It belongs to Shared::connections until its socket is closed and
// its call is answered; a handler therefore may reply through a plain pointer.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, Shared& shared)
      : shared_(shared),
        socket_(std::move(socket)),
        timer_(socket_.get_executor()),
        buffer_(shared.options.header_bytes_max + kBufferSlackBytes) {}

  void start() { await_request(); }
  void start_refused(HttpResponse response);
  // Ends now where nothing has begun; otherwise the current answer is the last.
  void drain();
  void cut_off();

 private:
  enum class Stage { idle, head, body, handling, writing, lingering, closed };

  void await_request();
  void read_head();
  void on_head(error_code error);
  std::optional<HttpResponse> refuse_head() const;
  void invite_body();
  void read_body();
  void on_body(error_code error);
  void handle();
  HttpRequest take_request();
  void watch_peer();
  void answer(HttpResponse response);
  void refuse(HttpResponse response);
  void write(HttpResponse response);
  void log(const HttpResponse& response);
  void on_written(error_code error);
  bool has_more();
  void linger();
  void linger_on();
  void close();
  void leave();
  void set_deadline(std::chrono::milliseconds timeout);
  void on_deadline();
  void begin_request();

  Shared& shared_;
  tcp::socket socket_;
  asio::steady_timer timer_;
  beast::flat_buffer buffer_;
  Stage stage_ = Stage::idle;
  bool call_pending_ = false;
  bool keep_alive_ = false;
  bool head_only_ = false;
  unsigned version_ = 11;
  unsigned deadline_index_ = 0;  // tells a timer that was moved from one that fired
  unsigned request_index_ = 0;   // tells a watch of this request from an older one
  std::size_t lingered_bytes_ = 0;
  Clock::time_point begin_;
  std::stop_source gone_;
  RequestRecord record_;
  std::string callers_id_;
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> response_;
  std::optional<http::response_serializer<http::string_body>> serializer_;
  std::array<char, 4096> discarded_;
};

// Whether the beginning of another request is here already.
bool Connection::has_more() {
  error_code failed;
  return buffer_.size() > 0 || (socket_.available(failed) > 0 && !failed);
}

void Connection::set_deadline(std::chrono::milliseconds timeout) {
  const unsigned index = ++deadline_index_;
  timer_.expires_after(timeout);
  timer_.async_wait([self = shared_from_this(), index](error_code error) {
    if (!error && index == self->deadline_index_) self->on_deadline();
  });
}

void Connection::on_deadline() {
  if (stage_ != Stage::head && stage_ != Stage::body) return close();
  socket_.cancel();
  refuse(refusal(408, "timeout_error", "the request took too long to arrive"));
}

void Connection::await_request() {
  if (shared_.draining && !has_more()) return close();
  stage_ = Stage::idle;
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(shared_.options.header_bytes_max));
  parser_->body_limit(shared_.options.body_bytes_max);
  if (buffer_.size() > 0) return read_head();  // pipelined
  set_deadline(shared_.options.idle_timeout);
  socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this()](error_code error) {
    if (self->stage_ != Stage::idle) return;
    if (error || !self->has_more()) return self->close();
    self->read_head();
  });
}

void Connection::begin_request() {
  begin_ = Clock::now();
  ++request_index_;
  gone_ = std::stop_source();
  record_ = {.id = shared_.ids.next()};
  callers_id_.clear();
  head_only_ = false;
  version_ = 11;
}

void Connection::read_head() {
  stage_ = Stage::head;
  begin_request();
  set_deadline(shared_.options.header_timeout);
  http::async_read_header(socket_, buffer_, *parser_,
                          [self = shared_from_this()](error_code error, std::size_t) {
                            if (self->stage_ == Stage::head) self->on_head(error);
                          });
}

void Connection::on_head(error_code error) {
  if (error) {
    auto refused = refuse_parse(error, shared_.options);
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
  if (head.find(http::field::expect) != head.end() && !parser_->is_done()) return invite_body();
  read_body();
}

std::optional<HttpResponse> Connection::refuse_head() const {
  const auto& head = parser_->get();
  if (head.version() >= 11 && head.count(http::field::host) != 1) {
    return refusal(400, "invalid_request_error", "exactly one Host header is needed");
  }
  const auto expect = head.find(http::field::expect);
  if (expect != head.end() && !beast::iequals(expect->value(), "100-continue")) {
    return refusal(417, "invalid_request_error", "the only expectation met is 100-continue");
  }
  return std::nullopt;
}

void Connection::invite_body() {
  static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  stage_ = Stage::body;
  set_deadline(shared_.options.body_timeout);
  asio::async_write(socket_, asio::buffer(kContinue),
                    [self = shared_from_this()](error_code error, std::size_t) {
                      if (self->stage_ != Stage::body) return;
                      if (error) return self->close();
                      self->read_body();
                    });
}

void Connection::read_body() {
  stage_ = Stage::body;
  set_deadline(shared_.options.body_timeout);
  http::async_read(socket_, buffer_, *parser_,
                   [self = shared_from_this()](error_code error, std::size_t) {
                     if (self->stage_ == Stage::body) self->on_body(error);
                   });
}

void Connection::on_body(error_code error) {
  if (!error) return handle();
  auto refused = refuse_parse(error, shared_.options);
  return refused ? refuse(std::move(*refused)) : close();
}

HttpRequest Connection::take_request() {
  auto message = parser_->release();
  HttpRequest request{.id = record_.id, .method = std::string(view(message.method_string()))};
  const std::string_view target = view(message.target());
  request.path = std::string(target.substr(0, target.find('?')));
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
  ++deadline_index_;
  keep_alive_ = parser_->get().keep_alive();
  call_pending_ = true;
  auto reply = [this](HttpResponse response) {
    asio::dispatch(socket_.get_executor(), [this, response = std::move(response)]() mutable {
      answer(std::move(response));
    });
  };
  const auto self = shared_from_this();  // an answer on the spot may end the connection
  shared_.handler({take_request(), gone_.get_token(), std::move(reply)});
  if (stage_ == Stage::handling) watch_peer();
}

// A readable socket without a byte is a peer that has left. One that sends its next request early
// is believed to stay.
void Connection::watch_peer() {
  socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this(),
                                              index = request_index_](error_code error) {
    const bool current = self->stage_ == Stage::handling && index == self->request_index_;
    if (!current || error == asio::error::operation_aborted) return;
    if (!error && self->has_more()) return;
    self->gone_.request_stop();
    self->close();
  });
}

void Connection::answer(HttpResponse response) {
  CHECK(call_pending_);
  call_pending_ = false;
  if (stage_ == Stage::closed) {
    log(response);
    return leave();
  }
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

void Connection::log(const HttpResponse& response) {
  record_.route = response.route;
  record_.note = response.note;
  record_.status = response.status;
  record_.ms = std::chrono::duration<double, std::milli>(Clock::now() - begin_).count();
  if (shared_.log) shared_.log(record_);
}

void Connection::write(HttpResponse response) {
  stage_ = Stage::writing;
  set_deadline(shared_.options.write_timeout);
  log(response);
  keep_alive_ = keep_alive_ && !shared_.draining;

  response_ = {};
  response_.result(static_cast<unsigned>(response.status));
  response_.version(version_);
  response_.keep_alive(keep_alive_);
  response_.set(http::field::server, "adjudge");
  response_.set(http::field::content_type, "application/json");
  response_.set("x-typesafe-request-id", record_.id);
  response_.set("x-request-id", callers_id_.empty() ? record_.id : callers_id_);
  response.phases.push_back({"total", record_.ms});
  response_.set("Server-Timing", timing_text(response.phases));
  for (const Header& header : response.headers) response_.set(header.name, header.value);
  const bool bodiless = response.status == 204;
  if (!bodiless) response_.content_length(response.body.size());
  if (!bodiless && !head_only_) response_.body() = std::move(response.body);

  serializer_.emplace(response_);
  const auto written = [self = shared_from_this()](error_code error, std::size_t) {
    if (self->stage_ == Stage::writing) self->on_written(error);
  };
  if (head_only_) return http::async_write_header(socket_, *serializer_, written);
  http::async_write(socket_, *serializer_, written);
}

void Connection::on_written(error_code error) {
  if (error) return close();
  if (keep_alive_) return await_request();
  linger();
}

void Connection::linger() {
  stage_ = Stage::lingering;
  set_deadline(kLingerTimeout);
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

void Connection::drain() {
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
  if (!call_pending_) leave();
}

void Connection::leave() {
  const auto self = shared_from_this();  // the set may have held the last one
  shared_.connections.erase(self);
  shared_.one_left();
}

}  // namespace

// The listener and the thread.
class HttpServer::Core {
 public:
  explicit Core(const HttpServerOptions& options)
      : work_(asio::make_work_guard(io_)), acceptor_(io_), pause_(io_) {
    shared_.options = options;
    shared_.one_left = [this] { end_if_drained(); };
  }

  ~Core() {
    if (!thread_.joinable()) return;
    asio::post(io_, [this] { end(); });
    thread_.join();
    shared_.connections.clear();  // those whose calls nobody answered
  }

  Status listen();
  tcp::endpoint endpoint() const { return endpoint_; }

  void start(HttpHandler handler, RequestLog log) {
    shared_.handler = std::move(handler);
    shared_.log = std::move(log);
    accept();
    thread_ = std::thread([this] { io_.run(); });
  }

  void drain() {
    if (!thread_.joinable()) return;
    asio::post(io_, [this] {
      shared_.draining = true;
      accept_waiting();
      stop_accepting();
      const auto connections = shared_.connections;  // closing one removes it
      for (const auto& connection : connections) connection->drain();
      end_if_drained();
    });
    thread_.join();
  }

 private:
  void accept();
  void accept_waiting();
  void admit(tcp::socket socket);
  void stop_accepting() {
    shared_.draining = true;
    error_code ignored;
    acceptor_.close(ignored);
    pause_.cancel();
  }
  void end_if_drained() {
    if (shared_.draining && shared_.connections.empty()) work_.reset();
  }
  void end() {
    stop_accepting();
    const auto connections = shared_.connections;
    for (const auto& connection : connections) connection->cut_off();
    work_.reset();
  }

  Shared shared_;
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  tcp::endpoint endpoint_;
  std::thread thread_;
};

Status HttpServer::Core::listen() {
  const HttpServerOptions& options = shared_.options;
  error_code error;
  const std::string host = options.host == "localhost" ? "127.0.0.1" : options.host;
  const auto address = asio::ip::make_address(host, error);
  if (error) {
    return Error{ErrorKind::bad_request, "host \"" + options.host + "\" is not an IP address"};
  }
  if (!address.is_loopback() && !options.public_allowed) {
    return Error{ErrorKind::bad_request,
                 "host " + options.host +
                     " can be reached from other machines, and this server asks nobody for a key; "
                     "say --public if that is what you want"};
  }
  endpoint_ = {address, static_cast<std::uint16_t>(options.port)};
  acceptor_.open(endpoint_.protocol(), error);
  if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor_.bind(endpoint_, error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (!error) endpoint_ = acceptor_.local_endpoint(error);
  if (!error) return Done{};
  const std::string place = "port " + std::to_string(options.port) + " of " + options.host;
  if (error == asio::error::address_in_use) {
    return Error{ErrorKind::unavailable, place +
                                             " is taken by another process; name another with "
                                             "--port (0: any free one)"};
  }
  return Error{ErrorKind::unavailable, place + ": " + error.message()};
}

void HttpServer::Core::accept() {
  acceptor_.async_accept([this](error_code error, tcp::socket socket) {
    if (shared_.draining) return;
    if (error) {
      pause_.expires_after(kAcceptPause);
      return pause_.async_wait([this](error_code) {
        if (!shared_.draining) accept();
      });
    }
    admit(std::move(socket));
    accept();
  });
}

// Those who knocked before the end was decided; their requests may be here already.
void HttpServer::Core::accept_waiting() {
  error_code error;
  acceptor_.non_blocking(true, error);
  while (!error) {
    tcp::socket socket(io_);
    acceptor_.accept(socket, error);
    if (!error) admit(std::move(socket));
  }
}

void HttpServer::Core::admit(tcp::socket socket) {
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  const int count = count_of(shared_.connections);
  const int count_max = shared_.options.connection_count_max;
  // Those above are told so; twice as many are not even listened to.
  if (count >= 2 * count_max) return;
  const auto connection = std::make_shared<Connection>(std::move(socket), shared_);
  shared_.connections.insert(connection);
  if (count < count_max) return connection->start();
  HttpResponse response = refusal(503, "unavailable_error", "too many connections");
  response.headers.push_back({"Retry-After", "1"});
  connection->start_refused(std::move(response));
}

HttpServer::HttpServer(std::unique_ptr<Core> core) : core_(std::move(core)) {}
HttpServer::~HttpServer() = default;

Result<std::unique_ptr<HttpServer>> HttpServer::listen(const HttpServerOptions& options) {
  auto core = std::make_unique<Core>(options);
  const Status status = core->listen();
  if (!status.ok()) return status.error();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(core)));
}

int HttpServer::port() const { return core_->endpoint().port(); }

std::string HttpServer::url() const {
  const auto endpoint = core_->endpoint();
  const std::string host = endpoint.address().to_string();
  return "http://" + (endpoint.address().is_v6() ? "[" + host + "]" : host) + ":" +
         std::to_string(endpoint.port());
}

void HttpServer::start(HttpHandler handler, RequestLog log) {
  core_->start(std::move(handler), std::move(log));
}

void HttpServer::drain() { core_->drain(); }

}  // namespace adjudge::serve
