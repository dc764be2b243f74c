#include "family/compile/prompt_limits.h"

#include "base/size.h"
#include "base/try.h"
#include "protocol/fault_list.h"

namespace adjudge {
namespace {

Fault too_many_options(const Question& question, int count_max) {
  return Fault{member_path(question, "criteria"), "too_long",
               "question \"" + question.id + "\" has " +
                   std::to_string(count_of(question.options)) + " options, at most " +
                   std::to_string(count_max) + " can be asked of this model"};
}

Error too_many_tokens(std::vector<std::string> path, std::string message) {
  return Error{ErrorKind::too_large,
               {Fault{std::move(path), "max_tokens_exceeded", std::move(message)}}};
}

}  // namespace

Status check_option_counts(const Request& request, int count_max) {
  std::vector<Fault> faults;
  for (const Question& question : request.questions) {
    if (count_of(question.options) > count_max) {
      faults.push_back(too_many_options(question, count_max));
    }
  }
  if (!faults.empty()) return Error{ErrorKind::bad_request, std::move(faults)};
  return Done{};
}

Status TokenCounter::check(const Question& last, std::string_view shown, int token_count) const {
  if (options_.prompt_tokens_max == 0 || token_count <= options_.prompt_tokens_max) return Done{};
  return too_many_tokens({"questions", last.id},
                         "the state and " + std::string(shown) + " are " +
                             std::to_string(token_count) + " tokens, at most " +
                             std::to_string(options_.prompt_tokens_max) + " fit this model");
}

Status TokenCounter::add(const Question& last, std::string_view shown, int token_count) {
  ADJ_TRY_DONE(check(last, shown, token_count));
  total_ += token_count;
  if (options_.request_tokens_max == 0 || total_ <= options_.request_tokens_max) return Done{};
  return too_many_tokens({"questions"}, "the prompts of these questions are more than " +
                                            std::to_string(options_.request_tokens_max) +
                                            " tokens together");
}

}  // namespace adjudge
