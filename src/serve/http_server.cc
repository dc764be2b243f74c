#include "serve/http_server.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <thread>
#include <utility>

#include "base/os/listener.h"
#include "base/size.h"
#include "serve/connection.h"

namespace adjudge::serve {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = boost::asio::ip::tcp;

namespace {

// Out of descriptors: the next attempt to accept comes after this.
constexpr std::chrono::milliseconds kAcceptPause{100};

}  // namespace

// The listener and the thread.
class HttpServer::Core {
 public:
  explicit Core(const HttpServerOptions& options)
      : work_(asio::make_work_guard(io_)), acceptor_(io_), pause_(io_), end_(io_) {
    hub_.options = options;
    hub_.one_left = [this] { end_if_drained(); };
  }

  ~Core() {
    if (!thread_.joinable()) return;
    asio::post(io_, [this] { end(); });
    thread_.join();
    hub_.connections.clear();  // those whose calls nobody answered
  }

  Status listen();
  tcp::endpoint endpoint() const { return endpoint_; }

  void start(HttpHandler handler, RequestLog log) {
    hub_.handler = std::move(handler);
    hub_.log = std::move(log);
    accept();
    thread_ = std::thread([this] { io_.run(); });
  }

  int drain() {
    if (!thread_.joinable()) return 0;
    asio::post(io_, [this] { begin_drain(); });
    thread_.join();
    return cut_off_count_;
  }

 private:
  void accept();
  void accept_waiting();
  void admit(tcp::socket socket);
  void begin_drain();
  void end_grace();
  void stop_accepting() {
    error_code ignored;
    acceptor_.close(ignored);
    pause_.cancel();
  }
  void end_if_drained() {
    if (hub_.ending != Ending::now || !hub_.connections.empty()) return;
    end_.cancel();
    work_.reset();
  }
  void cut_off_all() {
    const auto connections = hub_.connections;  // closing one removes it
    cut_off_count_ = count_of(connections);
    for (const auto& connection : connections) connection->cut_off();
  }
  void end() {
    hub_.ending = Ending::now;
    stop_accepting();
    cut_off_all();
    end_.cancel();
    work_.reset();
  }

  ConnectionHub hub_;
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  asio::steady_timer end_;
  int cut_off_count_ = 0;
  tcp::endpoint endpoint_;
  std::thread thread_;
};

Status HttpServer::Core::listen() {
  const HttpServerOptions& options = hub_.options;
  error_code error;
  const std::string host = options.host == "localhost" ? "127.0.0.1" : options.host;
  const auto address = asio::ip::make_address(host, error);
  if (error) {
    return Error{ErrorKind::bad_request, "host \"" + options.host + "\" is not an IP address"};
  }
  if (!address.is_loopback() && !options.public_allowed) {
    return Error{ErrorKind::bad_request,
                 "host " + options.host +
                     " can be reached from other machines, and nobody is asked for a key; give "
                     "an --api-key, or say --public if that is what you want"};
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
    // Whoever was accepted is served, even if the end was decided before we heard of it.
    if (!error) admit(std::move(socket));
    if (!acceptor_.is_open()) return;
    if (!error) return accept();
    pause_.expires_after(kAcceptPause);
    pause_.async_wait([this](error_code) {
      if (acceptor_.is_open()) accept();
    });
  });
}

// Nobody new from here on; those who are in may still ask until the grace is over.
void HttpServer::Core::begin_drain() {
  hub_.ending = Ending::soon;
  refuse_new_handshakes(acceptor_.native_handle());
  end_.expires_after(hub_.options.drain_grace);
  end_.async_wait([this](error_code error) {
    if (!error) end_grace();
  });
}

void HttpServer::Core::end_grace() {
  accept_waiting();
  hub_.ending = Ending::now;
  stop_accepting();
  end_.expires_after(hub_.options.drain_timeout);
  end_.async_wait([this](error_code error) {
    if (!error) cut_off_all();
  });
  const auto connections = hub_.connections;  // closing one removes it
  for (const auto& connection : connections) connection->end_if_idle();
  end_if_drained();
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
  const int count = count_of(hub_.connections);
  const int count_max = hub_.options.connection_count_max;
  // Those above are told so; twice as many are not even listened to.
  if (count >= 2 * count_max) return;
  const auto connection = std::make_shared<Connection>(std::move(socket), hub_);
  hub_.connections.insert(connection);
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

bool HttpServer::is_loopback() const { return core_->endpoint().address().is_loopback(); }

void HttpServer::start(HttpHandler handler, RequestLog log) {
  core_->start(std::move(handler), std::move(log));
}

int HttpServer::drain() { return core_->drain(); }

}  // namespace adjudge::serve
