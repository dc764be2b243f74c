// A family is a way of asking: how a request becomes prompts and where in them the answers are
// read. One file per family, src/family/<name>.cc, that defines <name>_family(); the list is
// generated.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "adjudge/result.h"
#include "calibrate/calibration.h"
#include "gguf/file.h"
#include "nn/weight_source.h"
#include "plan/prompt.h"
#include "protocol/answer.h"
#include "protocol/request.h"
#include "readout/readout.h"
#include "text/tokenizer.h"

namespace adjudge {

// How the readings of one question become its answer.
enum class Fold {
  mean,          // softmax of each reading, put back into option order, averaged
  rating_scale,  // a noul asked as ratings 0..n-1: P(yes) = sum of p_i * i / (n - 1)
};

// One prompt read once. `option_of[i]` is the option (index in the question) that logit i speaks
// of; for a rating scale it is the rating itself.
struct Reading {
  int prompt = 0;
  std::vector<int> option_of;
  std::shared_ptr<const Readout> readout;
  std::vector<int> marks;  // what the readout takes beside the prompt's wanted rows, if anything
};

struct QuestionPlan {
  Fold fold = Fold::mean;
  std::vector<Reading> readings;
  Truncation truncation;  // what a limit of the family's training left out
};

// Neighbouring tokens of one role; the numbers are the family's reference's.
struct RoleRun {
  int role = 0;
  int token_count = 0;
};

// What explain prints of a prompt beside its ids.
struct PromptNote {
  int question = 0;
  int order = 0;               // 0: options as given, 1: reversed
  std::string text;            // as rendered, special tokens in their own spelling
  Tokens uncut;                // of the text, where the prompt holds less; else empty
  std::vector<RoleRun> roles;  // of the tokens, where the readout goes by them; else empty
};

struct Compiled {
  std::vector<Prompt> prompts;
  std::vector<PromptNote> notes;        // one per prompt
  std::vector<QuestionPlan> questions;  // one per question of the request
};

struct CompileOptions {
  // Ids and special tokens rendered byte for byte as the reference does: question ids reach the
  // prompt where the family shows them, special tokens in user text are parsed where the reference
  // parses them.
  bool faithful = false;
  // Families that show all questions in every prompt show only the one asked.
  bool questions_alone = false;
  // Where training cut long texts: refuse what would be cut (bad_request), instead of cutting
  // alike.
  bool refuse_truncation = false;
  // Zero: any length. Otherwise a longer prompt, or prompts that are longer together, are refused
  // (too_large) as soon as they are met: thousands of questions about a long state would fill the
  // memory before anybody could count their tokens.
  int prompt_tokens_max = 0;
  std::int64_t request_tokens_max = 0;
};

// What people may ask of this family on this file.
struct FamilyTraits {
  std::string name;
  std::string readout;      // "label", "pointer", ...
  int options_trained = 0;  // labels the family was trained with
  int options_max = 0;      // that it can be asked here
  bool shows_all_questions = false;
  std::vector<std::string> notes;  // what a user should know: a missing key, a fallback taken
};

// A family opened against a file: special tokens, label tokens and head tensors are resolved.
class PromptCompiler {
 public:
  virtual ~PromptCompiler() = default;
  virtual const FamilyTraits& traits() const = 0;
  virtual const Calibration& calibration() const = 0;
  // Pure: two calls give the same tokens. Everything about the request that this family cannot do
  // is refused here.
  virtual Result<Compiled> compile(const Request& request, const CompileOptions& options) const = 0;
};

struct OpenedFile {
  const gguf::File* file;
  const text::Tokenizer* tokenizer;
  WeightSource* weights;
  int width;                   // of a hidden row
  const json::Value* sidecar;  // null when there is none
};

class Family {
 public:
  virtual ~Family() = default;
  virtual std::string_view name() const = 0;
  // By explicit metadata alone (<arch>.decision.type, tokenizer.chat_template); never by file name.
  virtual bool claims(const gguf::Metadata& metadata) const = 0;
  virtual Result<std::unique_ptr<PromptCompiler>> open(const OpenedFile& opened) const = 0;
};

std::span<const Family* const> families();
const Family* find_family(std::string_view name);
// The one family that claims the file. Where none does, an error that names what the file says.
Result<const Family*> claiming_family(const gguf::Metadata& metadata);

}  // namespace adjudge
