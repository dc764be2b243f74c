#include "support/loopback_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "base/check.h"

namespace adjudge::testing {

LoopbackServer::LoopbackServer(std::string content, LoopbackOptions options)
    : content_(std::move(content)), options_(options) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  CHECK(::bind(listener_, generic, size) == 0 && ::listen(listener_, 8) == 0);
  CHECK(::getsockname(listener_, generic, &size) == 0);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve(); });
}

LoopbackServer::~LoopbackServer() {
  ::shutdown(listener_, SHUT_RDWR);  // wakes accept
  thread_.join();
  ::close(listener_);
}

std::string LoopbackServer::url() const {
  return "http://127.0.0.1:" + std::to_string(port_) + "/file";
}

std::vector<std::string> LoopbackServer::ranges() const {
  const std::lock_guard lock(mutex_);
  return ranges_;
}

void LoopbackServer::serve() {
  for (int connection = 0; (connection = ::accept(listener_, nullptr, nullptr)) >= 0;) {
    answer(connection);
    ::close(connection);
  }
}

void LoopbackServer::answer(int connection) {
  std::string request;
  char buffer[1024];
  while (request.find("\r\n\r\n") == std::string::npos) {
    const ssize_t count = ::recv(connection, buffer, sizeof buffer, 0);
    if (count <= 0) return;
    request.append(buffer, static_cast<std::size_t>(count));
  }
  std::size_t begin = 0;
  const std::size_t header = request.find("Range: ");
  if (header != std::string::npos) {
    const std::string range = request.substr(header + 7, request.find("\r\n", header) - header - 7);
    if (options_.knows_ranges) begin = std::stoul(range.substr(range.find('=') + 1));
    const std::lock_guard lock(mutex_);
    ranges_.push_back(range);
  }
  std::string body = content_.substr(begin);
  std::string head = begin > 0
                         ? "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes " +
                               std::to_string(begin) + "-" + std::to_string(content_.size() - 1) +
                               "/" + std::to_string(content_.size()) + "\r\n"
                         : "HTTP/1.1 200 OK\r\n";
  head += "Content-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n";
  if (options_.bytes_per_answer > 0) {
    body.resize(std::min(body.size(), options_.bytes_per_answer));
  }
  const std::string all = head + body;
  ::send(connection, all.data(), all.size(), MSG_NOSIGNAL);
}

}  // namespace adjudge::testing
