// adjudge as a library: open a model file, submit requests, get probabilities.
//
//   auto model = adjudge::DecisionModel::open("kev-0.8b-q8_0.gguf");
//   if (!model.ok()) ...  model.error().message()
//   adjudge::DecisionRequest request;
//   request.state("Charged twice for order 1843.")
//       .choice("team", "Which team handles this?", {{"billing", "payments"}, {"tech", ""}})
//       .noul("refund", "Is a refund asked for?");
//   auto results = model.value().submit({&request, 1});
//
// Nothing here throws, prints, reads the environment or ends the process; whatever depends on the
// caller, the file or the machine comes back as a Result. All models of a process share one crew of
// workers, which start at the first use and again in a child after fork(), and evaluate for one
// caller at a time. Objects may be used from several threads.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "adjudge/result.h"

namespace adjudge {

// The version of this library: "0.1.0".
const char* version();

// What a process has once.
struct ProcessSettings {
  // Workers; 0: as many cores as the process may use. Fixed by the first model that is opened:
  // another number is refused from then on.
  int thread_count = 0;
  // For everything beside the mapped files; 0: no limit. Takes effect at once; what is held
  // already stays.
  std::size_t memory_bytes_max = 0;
  // For beginnings of prompts (states) kept over requests, the least recently used of which go
  // first; 0: keep none. Takes effect at once: what is too much goes.
  std::size_t snapshot_bytes_max = std::size_t{512} << 20;
};
// May be called at any time. Either all settings are taken, or none and the error is `unavailable`:
// the number of threads is fixed.
Status configure_process(const ProcessSettings& settings);

struct ModelSettings {
  std::string family;  // ask this family's way, whatever the file says; empty: the file's
  std::string split;   // split text this way; empty: as tokenizer.ggml.pre says
  std::string precision = "auto";  // arithmetic of matrix products: auto, f32, bf16, int8
  std::string isa;  // use no instruction set above this one; empty: all the machine has
};

struct ChoiceOption {
  std::string key;          // what comes back
  std::string description;  // empty: the key speaks for itself
};

// A state and named questions about it. The limits are those of the HTTP interface
// (docs/protocol.md): 1 to 255 options, 1 to 10 levels, ids that are not empty. They are checked
// when the request is submitted, and so is JSON that cannot be read. Of two questions with one id,
// or options with one key, the last counts. One that was moved from can only be assigned to.
class DecisionRequest {
 public:
  DecisionRequest();
  DecisionRequest(const DecisionRequest& other);
  DecisionRequest(DecisionRequest&&) noexcept;
  DecisionRequest& operator=(DecisionRequest other) noexcept;
  ~DecisionRequest();

  // A System One request body: {"state": ..., "questions": {...}}. What is called afterwards is
  // added to it.
  static DecisionRequest from_json(std::string_view body);

  DecisionRequest& state(std::string_view text);
  DecisionRequest& state_json(std::string_view json);  // one JSON value, any but null
  // One of several options.
  DecisionRequest& choice(std::string_view id, std::string_view instructions,
                          std::span<const ChoiceOption> options);
  DecisionRequest& choice(std::string_view id, std::string_view instructions,
                          std::initializer_list<ChoiceOption> options);
  // Ordered levels, lowest first.
  DecisionRequest& score(std::string_view id, std::string_view instructions,
                         std::initializer_list<std::string_view> levels);
  DecisionRequest& score(std::string_view id, std::string_view instructions,
                         std::span<const std::string_view> levels);
  // Yes or no.
  DecisionRequest& noul(std::string_view id, std::string_view instructions);

  // The System One request body, or the error of JSON that could not be read.
  Result<std::string> json() const;

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

struct OptionProbability {
  std::string key;
  double probability = 0;
};

// Tokens of a text that was longer than the model was trained with.
struct TruncatedText {
  int token_count = 0;
  int kept_count = 0;
  bool truncated() const { return kept_count < token_count; }
};

// What the model did not get to see of a question: families that were trained on cut texts (laya,
// julia) cut them alike.
struct DecisionTruncation {
  TruncatedText question;
  TruncatedText state;
  std::vector<std::string> options;        // keys of those that were cut
  std::vector<std::string> options_alike;  // of those that differ only in what was cut
  bool any() const { return question.truncated() || state.truncated() || !options.empty(); }
};

struct DecisionAnswer {
  std::string id;
  std::string type;                        // "choice", "score" or "noul"
  std::vector<OptionProbability> options;  // in the request's order; of a noul: "false", "true"
  std::string choice;     // of a choice: the most probable key, the first of equals
  double score = 0;       // of a score: the expected level, 0 to levels - 1
  double noul = 0;        // of a noul: the probability of yes
  double confidence = 0;  // of a choice or score, 0 to 1: how far from a uniform guess
  DecisionTruncation truncation;
};

struct DecisionResponse {
  std::string model;
  std::vector<DecisionAnswer> answers;  // in the order of the questions
  // Of all prompts, each shared token once, whether it was evaluated now or kept from before.
  int input_tokens = 0;
  std::string json;  // the System One response body
};

struct SubmitOptions {
  bool faithful = false;           // ids and special tokens as the family's reference renders them
  bool questions_alone = false;    // one question per prompt where a family shows all of them
  bool refuse_truncation = false;  // bad_request for what would be cut, instead of cutting it
  std::stop_token stop;            // gives up between two layers: cancelled
};

class DecisionModel {
 public:
  // Errors: bad_request for a precision there is not; bad_model for a file that is not there,
  // damaged, foreign or incomplete, and for a family or split there is not; not_supported for an
  // instruction set this machine lacks, or a network in a variant that is not offered; unavailable
  // for memory.
  static Result<DecisionModel> open(const std::string& path, const ModelSettings& settings = {});
  DecisionModel(DecisionModel&&) noexcept;
  DecisionModel& operator=(DecisionModel&&) noexcept;
  ~DecisionModel();

  const std::string& name() const;    // the file's name without its ending
  std::string describe_json() const;  // family, backbone, sizes, limits, temperatures

  // One result per request, in order. All go through the network together, and an answer's bits do
  // not depend on the company it was asked in. Blocks; requests of several threads are served one
  // after the other. Errors: bad_request, with all its faults; too_large for a published limit;
  // not_supported for media; cancelled; unavailable for memory, or a file that has changed since it
  // was opened; bad_model for weights that give no finite logit; internal for our own faults.
  std::vector<Result<DecisionResponse>> submit(std::span<const DecisionRequest> requests,
                                               const SubmitOptions& options = {}) const;

 private:
  struct Content;
  explicit DecisionModel(std::unique_ptr<Content> content);
  std::unique_ptr<Content> content_;
};

}  // namespace adjudge
