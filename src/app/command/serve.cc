// adjudge serve: answers over HTTP until it is told to end.
#include <CLI/CLI.hpp>
#include <iostream>

#include "app/command.h"
#include "app/options.h"
#include "app/server_keys.h"
#include "app/server_log.h"
#include "app/server_models.h"
#include "base/os/termination.h"
#include "base/try.h"
#include "protocol/systemone.h"
#include "serve/access.h"
#include "serve/decision_log.h"
#include "serve/http_server.h"
#include "serve/metrics.h"
#include "serve/routes.h"

namespace adjudge::app {

namespace {

// Parsing and printing take microseconds where the network takes milliseconds.
constexpr int kPoolThreadCount = 2;

constexpr const char* kOpenApi =
#include "openapi.inc"
    ;

struct ServeFlags {
  ModelFlags model;
  std::vector<std::string> models;
  CompileOptions compile;
  serve::HttpServerOptions http;
  serve::AccessPolicy access;
  KeySources keys;
  serve::DecisionLogOptions decision_log;
  serve::ShelfOptions shelf;
  std::string base_path;
  std::string log_format = "text";
  std::string compat = "none";
};

// Answers from the beginning: health at once, requests with 503 until the first model is there.
Status serve_until_told(serve::HttpServer& server, serve::ModelShelf& shelf, ServeFlags& flags,
                        serve::DecisionLog* decisions, TerminationSignals& signals) {
  ServerLog log(flags.log_format == "json");
  for (const serve::ModelCard& card : shelf.cards()) {
    for (const std::string& note : card.notes) log.warn(card.id + ": " + note);
  }
  serve::Metrics metrics(shelf.cards());
  serve::WorkPool pool(kPoolThreadCount);
  serve::DecisionQueue queue({});
  const serve::DecisionDesk desk{shelf, {}, pool, queue, [&](const serve::DecisionRecord& record) {
                                   metrics.count(record);
                                   if (decisions != nullptr) decisions->write(record);
                                 }};
  const serve::Site site{.desk = desk,
                         .systemone = flags.compat == "llama" ? kLlamaSystemOne : kSystemOne,
                         .cards = shelf.cards(),
                         .loaded = [&] { return shelf.loaded(); },
                         .metrics =
                             [&] {
                               return metrics.print({queue.load(), shelf.loaded(),
                                                     Runtime::process().snapshots().counts()});
                             },
                         .version = ADJ_VERSION,
                         .openapi = kOpenApi};
  const auto answer = serve::route_to(serve::make_routes(site));
  server.start(serve::under(flags.base_path, serve::guarded(flags.access, answer)),
               [&](const serve::RequestRecord& record) {
                 metrics.count(record);
                 log.request(record);
               });
  const Status loaded = shelf.await_first();
  if (loaded.ok()) {
    std::cout << "serving " << shelf.cards().front().id << " on " << server.url() << std::endl;
    signals.wait();
    log.info("ending: finishing what has begun; a second signal ends at once");
  }
  if (const int count = server.drain(); count > 0) {
    log.warn("time is over: " + std::to_string(count) + " connections were cut off");
  }
  if (decisions != nullptr && decisions->failed()) log.warn("the decision log is not whole");
  return loaded;
}

Status prepare(ServeFlags& flags) {
  ADJ_TRY(flags.access.keys, read_keys(flags.keys));
  flags.http.public_allowed = flags.http.public_allowed || !flags.access.keys.empty();
  flags.http.body_bytes_max = RequestLimits{}.json.bytes_max;
  ADJ_TRY(flags.model.options.precision, parse_precision(flags.model.precision));
  return flags.model.configure_runtime();
}

Status run_server(ServeFlags& flags) {
  TerminationSignals signals;
  ADJ_TRY_DONE(prepare(flags));
  // The port first: finding it taken should not wait for the model.
  ADJ_TRY(const auto server, serve::HttpServer::listen(flags.http));
  flags.access.loopback = server->is_loopback();
  ADJ_TRY(std::vector<serve::ShelfEntry> entries,
          shelf_entries(flags.models, flags.model.options, flags.compile));
  serve::ModelShelf shelf(std::move(entries), flags.shelf);
  std::unique_ptr<serve::DecisionLog> decisions;
  if (!flags.decision_log.path.empty()) {
    ADJ_TRY(decisions, serve::DecisionLog::open(flags.decision_log, shelf.cards()));
  }
  return serve_until_told(*server, shelf, flags, decisions.get(), signals);
}

void add_model_flags(CLI::App& command, ServeFlags& flags) {
  flags.model.add_to(command);
  command.remove_option(command.get_option("--model"));
  command
      .add_option("--model", flags.models,
                  "a GGUF file, the name of a pulled model, or a folder of files; several may be "
                  "given: the first is loaded at once, the others when asked for")
      ->required();
  add_compile_flags(command, flags.compile);
  command
      .add_option_function<int>(
          "--idle-unload",
          [&flags](int seconds) { flags.shelf.idle_timeout = std::chrono::seconds(seconds); },
          "put a model away that nobody has asked for so many seconds (0: never)")
      ->check(CLI::Range(0, 31'536'000));
}

void add_network_flags(CLI::App& command, ServeFlags& flags) {
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

void add_speech_flags(CLI::App& command, ServeFlags& flags) {
  command
      .add_option("--compat", flags.compat,
                  "llama: statuses, errors and usage of /v1/systemone as llama-server has them")
      ->check(CLI::IsMember({"none", "llama"}));
  command.add_option("--log-format", flags.log_format, "text or json")
      ->check(CLI::IsMember({"text", "json"}));
  CLI::Option* log =
      command.add_option("--decision-log", flags.decision_log.path,
                         "append ids, hashes and probabilities of every decision to this file");
  command
      .add_flag("--decision-log-requests", flags.decision_log.with_requests,
                "and what was asked, so that `adjudge replay` needs nothing else")
      ->needs(log);
}

}  // namespace

void add_serve_command(CLI::App& program, Run& chosen) {
  auto flags = std::make_shared<ServeFlags>();
  CLI::App* command = program.add_subcommand("serve", "answer over HTTP");
  add_model_flags(*command, *flags);
  add_network_flags(*command, *flags);
  add_speech_flags(*command, *flags);
  command->callback([flags, &chosen] {
    chosen = [flags] {
      const Status status = run_server(*flags);
      return status.ok() ? ExitStatus::success : report(status.error());
    };
  });
}

}  // namespace adjudge::app
