// adjudge serve: answers over HTTP until it is told to end.
#include <CLI/CLI.hpp>
#include <iostream>

#include "app/command.h"
#include "app/server_flags.h"
#include "app/server_log.h"
#include "app/server_models.h"
#include "base/os/termination.h"
#include "base/os/vanished_page.h"
#include "base/try.h"
#include "protocol/systemone.h"
#include "serve/metrics.h"
#include "serve/routes.h"

namespace adjudge::app {

namespace {

using std::chrono::milliseconds;

// Parsing and printing take microseconds where the network takes milliseconds.
constexpr int kPoolThreadCount = 2;
// While models are loaded: how soon we hear that we should end.
constexpr milliseconds kStartStep{50};

constexpr const char* kOpenApi =
#include "openapi.inc"
    ;

// Returns when told to end, or with what went wrong before the expected models were there.
Status wait_for_the_end(const serve::ModelShelf& shelf, const serve::HttpServer& server,
                        TerminationSignals& signals) {
  while (!signals.arrived()) {
    const std::optional<Status> started = shelf.await_start(kStartStep);
    if (!started) continue;
    ADJ_TRY_DONE(*started);
    std::cout << "serving " << shelf.cards().front().id << " on " << server.url() << std::endl;
    signals.wait();
    return Done{};
  }
  return Done{};
}

// Answers from the beginning: health at once, requests with 503 until their model is there.
Status serve_until_told(serve::HttpServer& server, serve::ModelShelf& shelf, ServerFlags& flags,
                        ServerLog& log, TerminationSignals& signals) {
  std::unique_ptr<serve::DecisionLog> decisions;
  if (!flags.decision_log.path.empty()) {
    flags.decision_log.report = [&](const std::string& what) { log.warn(what); };
    ADJ_TRY(decisions, serve::DecisionLog::open(flags.decision_log, shelf.cards()));
  }
  serve::Metrics metrics(shelf.cards());
  std::uint64_t left_seen = 0;  // by the queue's thread
  const serve::DecisionQueueHooks hooks{
      .make_room = [&] { return shelf.make_room(left_seen); },
      .count_pass = [&](int request_count) { metrics.count_pass(request_count); }};
  const auto observe = [&](const serve::DecisionRecord& record) {
    metrics.count(record);
    if (decisions) decisions->write(record);
  };
  serve::DecisionDesk desk{.source = shelf,
                           .limits = flags.limits,
                           .observe = observe,
                           .observer_waits = decisions != nullptr,
                           .queue = serve::DecisionQueue(flags.queue, hooks),
                           .pool = serve::WorkPool(kPoolThreadCount)};
  const serve::Site site{.desk = desk,
                         .systemone = flags.compat == "llama" ? kLlamaSystemOne : kSystemOne,
                         .cards = shelf.cards(),
                         .loaded = [&] { return shelf.loaded(); },
                         .metrics =
                             [&] {
                               return metrics.print({desk.queue.load(), shelf.loaded(),
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
  const Status ended = wait_for_the_end(shelf, server, signals);
  if (ended.ok()) log.info("ending: finishing what has begun; a second signal ends at once");
  if (const int count = server.drain(); count > 0) {
    log.warn("time is over: " + std::to_string(count) + " connections were cut off");
  }
  return ended;
}

Status prepare(ServerFlags& flags) {
  ADJ_TRY_DONE(serve::check_base_path(flags.base_path));
  ADJ_TRY(flags.access.keys, read_keys(flags.keys));
  flags.http.public_allowed = flags.http.public_allowed || !flags.access.keys.empty();
  flags.http.body_bytes_max = flags.limits.json.bytes_max;
  flags.shelf.any_name = flags.compat == "llama";  // that server looks at no name
  return flags.model.configure_runtime();
}

void log_notes(const serve::ShelfEntry& entry, ServerLog& log) {
  for (const std::string& note : entry.card.notes) log.warn(entry.card.id + ": " + note);
}

Result<ExitStatus> run_server(ServerFlags& flags) {
  TerminationSignals signals;
  ADJ_TRY_DONE(prepare(flags));
  // A model whose file is cut off must not end the others (docs/adr/0004).
  survive_vanished_pages();
  // The port first: finding it taken should not wait for the model.
  ADJ_TRY(const auto server, serve::HttpServer::listen(flags.http));
  flags.access.loopback = server->is_loopback();
  ServerLog log(flags.log_format == "json");
  ADJ_TRY(std::vector<serve::ShelfEntry> entries,
          shelf_entries(flags.models, {flags.pinned, flags.model.options, flags.compile,
                                       flags.model.snapshot_folder,
                                       [&](const std::string& what) { log.warn(what); }}));
  for (const serve::ShelfEntry& entry : entries) log_notes(entry, log);
  flags.shelf.report = [&](const std::string& id, const Status& status) {
    if (status.ok()) return log.info(id + " is loaded");
    log.warn(id + ": " + status.error().message());
  };
  serve::ModelShelf shelf(std::move(entries), flags.shelf);
  ADJ_TRY_DONE(serve_until_told(*server, shelf, flags, log, signals));
  return ExitStatus::success;
}

}  // namespace

void add_serve_command(CLI::App& program, Run& chosen) {
  auto flags = std::make_shared<ServerFlags>();
  CLI::App* command = program.add_subcommand("serve", "answer over HTTP");
  flags->add_to(*command);
  run_when_chosen(*command, chosen, [flags] { return run_server(*flags); });
}

}  // namespace adjudge::app
