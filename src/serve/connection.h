// One peer of the HTTP server: reads its requests one at a time, hands them on, writes the answers.
// For http_server.cc alone, because Boost compiles slowly. Runs on the I/O thread.
#pragma once

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <optional>
#include <set>
#include <stop_token>

#include "serve/http_server.h"
#include "serve/request_id.h"

namespace adjudge::serve {

class Connection;

// Whether the server goes on; `soon`: every answer that nothing follows is its connection's last;
// `now`: who waits without a request is not waited for.
enum class Ending { no, soon, now };

// What the connections share with their server.
struct ConnectionHub {
  HttpServerOptions options;
  HttpHandler handler;
  RequestLog log;
  RequestIds ids;
  Ending ending = Ending::no;
  std::size_t body_bytes = 0;  // of all bodies that are here and not answered
  std::set<std::shared_ptr<Connection>> connections;
  std::function<void()> one_left;
};

// It belongs to ConnectionHub::connections until its socket is closed and all its calls are
// answered; a handler therefore may reply through a plain pointer.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(boost::asio::ip::tcp::socket socket, ConnectionHub& hub);

  void start() { await_request(); }
  void start_refused(HttpResponse response);
  void end_if_idle();
  void cut_off();

 private:
  using error_code = boost::system::error_code;
  using StringResponse = boost::beast::http::response<boost::beast::http::string_body>;
  using StringSerializer = boost::beast::http::response_serializer<boost::beast::http::string_body>;

  enum class Stage { idle, head, body, handling, writing, producing, lingering, closed };

  void await_request();
  void await_byte();
  void begin_request();
  void read_head();
  void on_head(error_code error);
  std::optional<HttpResponse> refuse_head();
  void invite_body();
  void read_body();
  void on_body(error_code error);
  bool reserve_body(std::size_t bytes);
  void handle();
  HttpRequest take_request();
  void watch_peer();
  bool is_awaited(unsigned request_index) const;
  bool may_be_reached();
  void watch_reset();
  void leave_off();
  void answer(unsigned request_index, HttpResponse response);
  void refuse(HttpResponse response);
  void write(HttpResponse response);
  void make_response(HttpResponse& response);
  void record(const HttpResponse& response);
  void log();
  void on_written(error_code error);
  void produce();
  void on_piece(BodyPiece piece);
  bool has_more();
  error_code end_of_input();
  void linger();
  void linger_on();
  void close();
  void leave();
  void set_timeout(std::chrono::milliseconds timeout);
  void on_timeout();

  ConnectionHub& hub_;
  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer timer_;
  boost::beast::flat_buffer buffer_;
  std::string peer_;  // its address
  Stage stage_ = Stage::idle;
  int pending_count_ = 0;  // calls and pieces somebody owes us
  bool keep_alive_ = false;
  bool head_only_ = false;
  unsigned version_ = 11;
  unsigned timeout_index_ = 0;  // tells a timer that was moved from one that fired
  unsigned request_index_ = 0;  // tells a watch or answer of this request from an older one
  std::size_t body_bytes_ = 0;  // our part of the hub's
  std::size_t lingered_bytes_ = 0;
  std::chrono::steady_clock::time_point begin_;
  std::optional<std::chrono::milliseconds> deadline_;  // the caller's, from `begin_`
  std::stop_source gone_;
  RequestRecord record_;
  std::string callers_id_;
  std::optional<boost::beast::http::request_parser<boost::beast::http::string_body>> parser_;
  StringResponse response_;
  std::optional<StringSerializer> serializer_;
  BodySource source_;  // of the answer that is being written
  std::string piece_;
  std::array<char, 4096> discarded_;
};

}  // namespace adjudge::serve
