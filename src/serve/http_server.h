// HTTP/1.1 over TCP: sockets, limits, timeouts, ids. Knows nothing of paths and decisions. One I/O
// thread; Boost is seen by http_server.cc and connection.cc alone, because it compiles slowly.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "adjudge/result.h"
#include "serve/http.h"

namespace adjudge::serve {

struct HttpServerOptions {
  std::string host = "127.0.0.1";  // an address, or "localhost"
  int port = 8080;                 // zero: any free one
  bool public_allowed = false;     // an address that others can reach is refused otherwise
  int connection_count_max = 256;
  std::size_t header_bytes_max = std::size_t{16} << 10;
  std::size_t body_bytes_max = std::size_t{32} << 20;
  std::size_t body_memory_max = std::size_t{256} << 20;  // of all connections together
  std::chrono::milliseconds idle_timeout{75'000};        // between requests; pools reuse after 30 s
  std::chrono::milliseconds header_timeout{10'000};      // from a request's first byte
  std::chrono::milliseconds body_timeout{60'000};
  std::chrono::milliseconds write_timeout{30'000};
  // Whoever is connected when the end is decided may begin a request for so long: it may be on its
  // way. Some round trips of a slow network.
  std::chrono::milliseconds drain_grace{250};
  std::chrono::milliseconds drain_timeout{50'000};  // systemd and containers wait for a minute
};

class HttpServer {
 public:
  // Takes the port; nobody is answered before start().
  static Result<std::unique_ptr<HttpServer>> listen(const HttpServerOptions& options);
  // Cuts off whoever is still connected. Outlives everything that may reply to a call.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;
  std::string url() const;
  bool is_loopback() const;

  void start(HttpHandler handler, RequestLog log);
  // Lets nobody new in and what has begun end; returns when the last connection is closed: how many
  // had to be cut off, because their time was over.
  int drain();

 private:
  class Core;
  explicit HttpServer(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

}  // namespace adjudge::serve
