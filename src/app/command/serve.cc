// adjudge serve: answers over HTTP until it is told to end.
#include <spdlog/async.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "app/command.h"
#include "app/options.h"
#include "base/os/termination.h"
#include "serve/http_server.h"
#include "serve/model_decider.h"
#include "serve/routes.h"

namespace adjudge::app {

namespace {

// Parsing and printing take microseconds where the network takes milliseconds.
constexpr int kPoolThreadCount = 2;
constexpr int kLogLinesWaitingMax = 8192;

struct ServeFlags {
  ModelFlags model;
  CompileOptions compile;
  serve::HttpServerOptions http;
};

// Written by a thread of its own: a reader who does not read costs lines, never answers.
std::shared_ptr<spdlog::logger> make_log() {
  spdlog::init_thread_pool(kLogLinesWaitingMax, 1);
  auto log = std::make_shared<spdlog::async_logger>(
      "serve", std::make_shared<spdlog::sinks::stderr_sink_mt>(), spdlog::thread_pool(),
      spdlog::async_overflow_policy::overrun_oldest);
  log->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %^%l%$ %v", spdlog::pattern_time_type::utc);
  return log;
}

std::string line_of(const serve::RequestRecord& record) {
  const auto or_dash = [](const std::string& text) { return text.empty() ? "-" : text; };
  return fmt::format("{} {} {} {} {:.1f}ms{}{}", record.id, or_dash(record.method),
                     or_dash(record.route), record.status, record.ms,
                     record.note.empty() ? "" : " ", record.note);
}

void serve_until_told(serve::HttpServer& server, const Model& model, const ServeFlags& flags,
                      TerminationSignals& signals) {
  const auto log = make_log();
  const RequestLimits limits;
  const serve::ModelCard card = serve::card_of(model);
  for (const std::string& note : card.notes) log->warn("{}: {}", card.id, note);

  const serve::ModelDecider decider(model, flags.compile);
  serve::WorkPool pool(kPoolThreadCount);
  serve::DecisionQueue queue(decider, {});
  const serve::DecisionDesk desk{decider, limits, pool, queue};
  server.start(serve::route_to(serve::make_routes(desk, print_models_page(card, limits))),
               [log](const serve::RequestRecord& record) { log->info(line_of(record)); });
  std::cout << "serving " << card.id << " on " << server.url() << std::endl;

  signals.wait();
  log->info("ending: finishing what has begun; a second signal ends at once");
  server.drain();
  spdlog::shutdown();
}

ExitStatus run_serve(ServeFlags& flags) {
  TerminationSignals signals;
  flags.http.body_bytes_max = RequestLimits{}.json.bytes_max;
  // The port first: finding it taken should not wait for the model.
  const auto server = serve::HttpServer::listen(flags.http);
  if (!server.ok()) return report(server.error());
  const auto model = flags.model.open_model();
  if (!model.ok()) return report(model.error());
  serve_until_told(*server.value(), *model.value(), flags, signals);
  return ExitStatus::success;
}

}  // namespace

void add_serve_command(CLI::App& program, Run& chosen) {
  auto flags = std::make_shared<ServeFlags>();
  CLI::App* command = program.add_subcommand("serve", "answer over HTTP");
  flags->model.add_to(*command);
  add_compile_flags(*command, flags->compile);
  command->add_option("--host", flags->http.host, "the address to listen on")
      ->capture_default_str();
  command->add_option("--port", flags->http.port, "the port to listen on (0: any free one)")
      ->capture_default_str()
      ->check(CLI::Range(0, 65535));
  command->add_flag("--public", flags->http.public_allowed,
                    "allow an address that other machines can reach; nobody is asked for a key");
  command->callback([flags, &chosen] { chosen = [flags] { return run_serve(*flags); }; });
}

}  // namespace adjudge::app
