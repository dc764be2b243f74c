// An opened model behind the server's port: the only file here that knows decide/.
#pragma once

#include "decide/decide.h"
#include "serve/decider.h"
#include "serve/models_page.h"

namespace adjudge::serve {

class ModelDecider final : public Decider {
 public:
  ModelDecider(std::unique_ptr<const Model> model, const CompileOptions& compile)
      : model_(std::move(model)), compile_(compile) {}

  Result<PreparedPtr> prepare(Request request) const override;
  std::vector<Result<Response>> decide(std::span<const Prepared* const> requests,
                                       std::stop_token stop) const override;
  Status warm_up() const override;
  bool usable() const override { return model_->intact(); }
  const Model& model() const { return *model_; }

 private:
  std::unique_ptr<const Model> model_;
  CompileOptions compile_;
};

ModelCard card_of(const ModelFile& file, Precision precision);

}  // namespace adjudge::serve
