#include "serve/model_decider.h"

#include <chrono>
#include <filesystem>

#include "base/try.h"
#include "plan/prefix_forest.h"

namespace adjudge::serve {

namespace {

// Zero when the file system does not say.
std::int64_t written_at(const std::string& path) {
  std::error_code failed;
  const auto time = std::filesystem::last_write_time(path, failed);
  if (failed) return 0;
  const auto system = std::filesystem::file_time_type::clock::to_sys(time);
  return std::chrono::floor<std::chrono::seconds>(system).time_since_epoch().count();
}

}  // namespace

Result<int> ModelDecider::weigh(const Request& request) const {
  ADJ_TRY(const Compiled compiled, compile_within_limits(model_.file(), request, compile_));
  std::vector<const Prompt*> prompts;
  for (const Prompt& prompt : compiled.prompts) prompts.push_back(&prompt);
  return build_prefix_forest(prompts).evaluated_count;
}

std::vector<Result<Response>> ModelDecider::decide(std::span<const Request> requests,
                                                   std::stop_token stop) const {
  return adjudge::decide(model_, requests, {compile_, std::move(stop)});
}

ModelCard card_of(const Model& model) {
  const ModelFile& file = model.file();
  const FamilyTraits& family = file.compiler().traits();
  return {.id = file.name(),
          .description = family.name + " decision model on " + file.traits().name,
          .created = written_at(file.file().path()),
          .family = family.name,
          .readout = family.readout,
          .options_trained = family.options_trained,
          .options_max = family.options_max,
          .positions_max = file.traits().positions_max,
          .shows_all_questions = family.shows_all_questions,
          .precision = precision_name(model.precision()),
          .fingerprint = file.fingerprint(),
          .temperatures = file.compiler().calibration().temperatures,
          .notes = family.notes};
}

}  // namespace adjudge::serve
