// What `adjudge serve` takes on the command line.
#pragma once

#include <string>
#include <vector>

#include "app/options.h"
#include "app/server_keys.h"
#include "protocol/limits.h"
#include "serve/access.h"
#include "serve/decision_log.h"
#include "serve/decision_queue.h"
#include "serve/http_server.h"
#include "serve/model_shelf.h"

namespace adjudge::app {

struct ServerFlags {
  ModelFlags model;
  std::vector<std::string> models;  // files, names of pulled models, folders
  std::vector<std::string> pinned;  // the same, or names by which requests mean them
  CompileOptions compile;
  serve::HttpServerOptions http;
  serve::AccessPolicy access;
  KeySources keys;
  RequestLimits limits;
  serve::DecisionQueueOptions queue;
  serve::DecisionLogOptions decision_log;
  serve::ShelfOptions shelf;
  std::string base_path;
  std::string log_format = "text";
  std::string compat = "none";

  void add_to(CLI::App& command);
};

}  // namespace adjudge::app
