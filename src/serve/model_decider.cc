#include "serve/model_decider.h"

#include <chrono>
#include <filesystem>

#include "base/check.h"
#include "base/try.h"

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

std::int64_t bytes_of(const std::string& path) {
  std::error_code failed;
  const std::uintmax_t bytes = std::filesystem::file_size(path, failed);
  return failed ? 0 : static_cast<std::int64_t>(bytes);
}

struct CompiledPrepared final : Prepared {
  Compiled compiled;
  double compile_ms = 0;
};

}  // namespace

Result<PreparedPtr> ModelDecider::prepare(Request request) const {
  const auto begin = std::chrono::steady_clock::now();
  auto prepared = std::make_unique<CompiledPrepared>();
  ADJ_TRY(CountedRequest counted, compile_and_count(*model_, request, compile_));
  prepared->compiled = std::move(counted.compiled);
  prepared->token_count = counted.token_count;
  prepared->request = std::move(request);
  prepared->decider = shared_from_this();
  const auto end = std::chrono::steady_clock::now();
  prepared->compile_ms = std::chrono::duration<double, std::milli>(end - begin).count();
  return PreparedPtr(std::move(prepared));
}

std::vector<Result<Response>> ModelDecider::decide(std::span<const Prepared* const> requests,
                                                   std::stop_token stop) const {
  std::vector<CompiledRequest> compiled;
  for (const Prepared* prepared : requests) {
    CHECK(prepared->decider.get() == this);
    const auto* own = static_cast<const CompiledPrepared*>(prepared);
    compiled.push_back({&own->request, &own->compiled});
  }
  std::vector<Result<Response>> responses = adjudge::decide(*model_, compiled, std::move(stop));
  for (std::size_t i = 0; i < responses.size(); ++i) {
    if (!responses[i].ok()) continue;
    responses[i].value().timing.compile +=
        static_cast<const CompiledPrepared*>(requests[i])->compile_ms;
  }
  return responses;
}

Status ModelDecider::warm_up() const {
  Request request;
  request.state = json::string("warm-up");
  request.questions = {{.id = "q",
                        .kind = QuestionKind::choice,
                        .instructions = json::string("Which?"),
                        .options = {{.key = "a"}, {.key = "b"}}}};
  ADJ_TRY(const PreparedPtr prepared, prepare(std::move(request)));
  const Prepared* const only = prepared.get();
  ADJ_TRY_DONE(decide({&only, 1}, {}).front());
  return Done{};
}

// "auto: Q4_K int8, Q6_K int8"
std::string describe_precision(const ModelFile& file, Precision precision) {
  std::string text = precision_name(precision);
  const char* separator = ": ";
  for (const auto& [format, arithmetic] :
       describe_arithmetic(file.file(), kernel::make_table(), precision)) {
    text += std::string(separator) + format + " " + arithmetic;
    separator = ", ";
  }
  return text;
}

ModelCard card_of(const ModelFile& file, Precision precision) {
  const FamilyTraits& family = file.compiler().traits();
  return {.id = file.name(),
          .description = family.name + " decision model on " + file.traits().name,
          .created = written_at(file.file().path()),
          .family = family.name,
          .backbone = file.traits().name,
          .readout = family.readout,
          .options_trained = family.options_trained,
          .options_max = family.options_max,
          .positions_max = file.traits().positions_max,
          .shows_all_questions = family.shows_all_questions,
          .precision = describe_precision(file, precision),
          .fingerprint = file.fingerprint(),
          .bytes = bytes_of(file.file().path()),
          .temperatures = file.compiler().calibration().temperatures,
          .notes = family.notes};
}

}  // namespace adjudge::serve
