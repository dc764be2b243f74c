// An opened model behind the server's port: the only file here that knows decide/.
#pragma once

#include "decide/decide.h"
#include "serve/decider.h"
#include "serve/models_page.h"

namespace adjudge::serve {

class ModelDecider final : public Decider {
 public:
  // `model` outlives this.
  ModelDecider(const Model& model, const CompileOptions& compile)
      : model_(model), compile_(compile) {}

  Result<int> weigh(const Request& request) const override;
  std::vector<Result<Response>> decide(std::span<const Request> requests,
                                       std::stop_token stop) const override;

 private:
  const Model& model_;
  CompileOptions compile_;
};

ModelCard card_of(const Model& model);

}  // namespace adjudge::serve
