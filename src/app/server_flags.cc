#include "app/server_flags.h"

#include <CLI/CLI.hpp>

namespace adjudge::app {

namespace {

using std::chrono::milliseconds;

// A year: longer is a mistake, and would overflow somewhere.
constexpr int kSecondsMax = 31'536'000;
constexpr int kCountMax = 1 << 30;

void add_seconds(CLI::App& command, const char* name, milliseconds& target, int seconds_min,
                 const std::string& what) {
  command
      .add_option_function<int>(
          name, [&target](int seconds) { target = std::chrono::seconds(seconds); }, what)
      ->check(CLI::Range(seconds_min, kSecondsMax))
      ->default_str(std::to_string(target.count() / 1000));
}

void add_count(CLI::App& command, const char* name, int& target, const char* what) {
  command.add_option(name, target, what)->check(CLI::Range(1, kCountMax))->capture_default_str();
}

void add_bytes(CLI::App& command, const char* name, std::size_t& target, const char* what) {
  command.add_option(name, target, what)
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(1, kCountMax))
      ->capture_default_str();
}

void add_model_flags(CLI::App& command, ServerFlags& flags) {
  command
      .add_option("--model", flags.models,
                  "a GGUF file, the name of a pulled model, or a folder of files; several may be "
                  "given: the first is loaded at once, the others when asked for")
      ->required();
  command.add_option("--pin", flags.pinned,
                     "load this model (its name, or what --model was given) at once too, and never "
                     "put it away for others or for being idle; may be repeated");
  flags.model.add_reading_to(command);
  flags.model.add_arithmetic_to(command);
  flags.model.add_runtime_to(command);
  command.add_flag("--warm-up", flags.shelf.warms_up,
                   "let every model decide something before the first request has it");
  add_seconds(command, "--idle-unload", flags.shelf.idle_timeout, 0,
              "put a model away that nobody has asked for so many seconds (0: never)");
  add_compile_flags(command, flags.compile);
}

void add_network_flags(CLI::App& command, ServerFlags& flags) {
  command.add_option("--host", flags.http.host, "the address to listen on")->capture_default_str();
  command.add_option("--port", flags.http.port, "the port to listen on (0: any free one)")
      ->capture_default_str()
      ->check(CLI::Range(0, 65535));
  command.add_flag("--public", flags.http.public_allowed,
                   "allow an address that other machines can reach without asking for a key");
  command.add_option("--base-path", flags.base_path,
                     "a prefix of all paths that a proxy leaves on, such as /decide");
  command.add_option("--api-key", flags.keys.keys,
                     "ask for a key; may be repeated (ADJUDGE_API_KEYS holds some too)");
  command.add_option("--api-key-file", flags.keys.file, "a file with a key a line");
  command.add_option("--cors", flags.access.origins,
                     "let pages of this origin ask, such as https://app.example (*: any)");
  command.add_option("--allow-host", flags.access.hosts,
                     "a further name of this server, where a proxy passes its own on");
}

void add_limit_flags(CLI::App& command, ServerFlags& flags) {
  serve::HttpServerOptions& http = flags.http;
  add_count(command, "--connections", http.connection_count_max,
            "connections at a time; the next ones are told to come again");
  add_bytes(command, "--body-bytes", flags.limits.json.bytes_max,
            "bytes of a body, packed or not, such as 1MB");
  add_bytes(command, "--all-body-bytes", http.body_memory_max,
            "bytes of the bodies of all requests together");
  add_count(command, "--queue-requests", flags.queue.request_count_max, "requests that wait");
  add_count(command, "--queue-tokens", flags.queue.token_count_max, "tokens of requests that wait");
  add_count(command, "--pass-requests", flags.queue.together_request_count_max,
            "requests that are decided together");
  add_count(command, "--pass-tokens", flags.queue.together_token_count_max,
            "tokens of requests that are decided together");
  add_seconds(command, "--idle-timeout", http.idle_timeout, 1,
              "seconds of silence between requests on a connection");
  add_seconds(command, "--header-timeout", http.header_timeout, 1,
              "seconds a request's header may take to arrive");
  add_seconds(command, "--body-timeout", http.body_timeout, 1,
              "seconds a request's body may take to arrive");
  add_seconds(command, "--write-timeout", http.write_timeout, 1,
              "seconds a peer may take to read an answer, or a piece of one");
  add_seconds(command, "--drain-timeout", http.drain_timeout, 0,
              "seconds to finish what has begun when told to end");
}

void add_speech_flags(CLI::App& command, ServerFlags& flags) {
  command
      .add_option("--compat", flags.compat,
                  "llama: statuses, errors and usage of /v1/systemone as llama-server has them; "
                  "none: as the hosted System One")
      ->check(CLI::IsMember({"none", "llama"}))
      ->capture_default_str();
  command.add_option("--log-format", flags.log_format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  CLI::Option* log =
      command.add_option("--decision-log", flags.decision_log.path,
                         "append ids, hashes and probabilities of every decision to this file");
  command
      .add_flag("--decision-log-requests", flags.decision_log.with_requests,
                "and what was asked, so that `adjudge replay` needs nothing else")
      ->needs(log);
}

}  // namespace

void ServerFlags::add_to(CLI::App& command) {
  add_model_flags(command, *this);
  add_network_flags(command, *this);
  add_limit_flags(command, *this);
  add_speech_flags(command, *this);
}

}  // namespace adjudge::app
