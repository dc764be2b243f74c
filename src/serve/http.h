// What a handler sees of HTTP: plain values, no sockets.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace adjudge::serve {

struct Header {
  std::string name;
  std::string value;
};

struct HttpRequest {
  std::string id;      // ours, unique; sent back with the answer
  std::string client;  // who takes turns with others: its address, or its key's number
  std::string method;  // as sent
  std::string path;    // without the query
  std::vector<Header> headers;
  std::string body;

  // The first value of that header, whatever the case of its name; empty when absent.
  std::string_view header(std::string_view name) const;
};

// A stretch of time that Server-Timing shows, in milliseconds.
struct Phase {
  std::string name;
  double ms = 0;
};

// A stretch of a body that is sent while it is made.
struct BodyPiece {
  std::string text;
  bool last = false;
};

// Called on the I/O thread for every piece, never before the last one is on its way; must not wait.
// The piece may be handed over from any thread.
using BodySource = std::function<void(std::function<void(BodyPiece)>)>;

struct HttpResponse {
  int status = 200;
  std::string body;   // JSON, unless content_type says otherwise
  BodySource source;  // instead of a body, where set
  std::string content_type = "application/json";
  std::vector<Header> headers;
  std::vector<Phase> phases;
  std::string note;  // for the log: counts, nothing of the request's content
};

// A request, whether its peer has left, and the way to answer: exactly once, from any thread.
struct HttpCall {
  HttpRequest request;
  std::stop_token gone;
  std::function<void(HttpResponse)> reply;
  std::optional<std::chrono::steady_clock::time_point> deadline;  // later it is worth nothing
  // For the log, before anybody answers: the path as the table has it, never as the peer sent it.
  // On the thread of the call; may be empty.
  std::function<void(const std::string& route)> routed;
};

// Called on the I/O thread; must not wait.
using HttpHandler = std::function<void(HttpCall)>;

// What is known of a request once its answer is on the way.
struct RequestRecord {
  std::string id;
  std::string method;
  std::string route;
  std::string note;
  int status = 0;
  double ms = 0;
};

// Called on the I/O thread.
using RequestLog = std::function<void(const RequestRecord&)>;

// What a request line asks for (RFC 9112, 3.2).
struct RequestTarget {
  std::string_view path;       // without the query
  std::string_view authority;  // of the absolute form: it counts, and the Host header does not
};
RequestTarget read_target(std::string_view target);

// A refusal in the words every client reads: `detail` and `error`. `type` names the fault to
// programs.
HttpResponse refusal(int status, std::string_view type, std::string_view message);

}  // namespace adjudge::serve
