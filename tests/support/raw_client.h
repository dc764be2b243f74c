// For tests: a peer that sends bytes, not requests, so that it can be as rude as peers are.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"

namespace adjudge::testing {

struct RawResponse {
  int status = 0;  // zero: the server closed without a word
  std::string head;
  std::string body;

  std::string header(std::string_view name) const {
    const std::size_t begin = head.find("\r\n" + std::string(name) + ": ");
    if (begin == std::string::npos) return {};
    const std::size_t value = begin + name.size() + 4;
    return head.substr(value, head.find("\r\n", value) - value);
  }
};

class RawClient {
 public:
  explicit RawClient(int port) : RawClient() { CHECK(connect(port)); }
  // Nothing where nobody listens.
  static std::unique_ptr<RawClient> try_connect(int port) {
    std::unique_ptr<RawClient> client(new RawClient);
    return client->connect(port) ? std::move(client) : nullptr;
  }
  ~RawClient() { leave(); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  void leave() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }

  // Sends no more, and still listens.
  void end_sending() { ::shutdown(socket_, SHUT_WR); }

  // False when the server does not take it any more.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  // The next response; that of a HEAD request has no body.
  RawResponse receive(bool with_body = true) {
    RawResponse response;
    while (received_.find("\r\n\r\n") == std::string::npos) {
      if (!receive_more()) return response;
    }
    response.head = take(received_.find("\r\n\r\n") + 4);
    response.status = std::atoi(response.head.c_str() + std::string_view("HTTP/1.1 ").size());
    if (!with_body || response.status < 200) return response;
    const std::string length = response.header("Content-Length");
    const auto body_bytes = static_cast<std::size_t>(std::atoll(length.c_str()));
    while (received_.size() < body_bytes && receive_more()) continue;
    response.body = take(body_bytes);
    return response;
  }

  // Fewer when the server has no more.
  std::string receive_bytes(std::size_t count) {
    while (received_.size() < count && receive_more()) continue;
    return take(std::min(count, received_.size()));
  }

  RawResponse ask(std::string_view bytes) {
    send(bytes);
    return receive();
  }

  // Whether the server closes within the time, having said nothing more.
  bool is_closed_within(int milliseconds) {
    pollfd poll{socket_, POLLIN, 0};
    if (::poll(&poll, 1, milliseconds) <= 0) return false;
    char byte;
    return ::recv(socket_, &byte, 1, 0) <= 0;
  }

 private:
  RawClient() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {}

  bool connect(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }

  bool receive_more() {
    char bytes[4096];
    const ssize_t count = ::recv(socket_, bytes, sizeof(bytes), 0);
    if (count <= 0) return false;
    received_.append(bytes, static_cast<std::size_t>(count));
    return true;
  }

  std::string take(std::size_t count) {
    const std::string taken = received_.substr(0, count);
    received_.erase(0, count);
    return taken;
  }

  int socket_;
  std::string received_;
};

inline std::string get(std::string_view path) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
}

inline std::string post(std::string_view path, std::string_view body) {
  return "POST " + std::string(path) +
         " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + std::string(body);
}

}  // namespace adjudge::testing
