// Any bytes to every wire: a refusal is JSON and the caller's fault, a request takes a made-up
// answer and prints as JSON.

#include <cstdint>

#include "base/check.h"
#include "base/size.h"
#include "json/value.h"
#include "protocol/decisions.h"
#include "protocol/systemone.h"

namespace {

using namespace adjudge;

Response uniform_response(const Request& request) {
  Response response{.model = "m"};
  for (const Question& question : request.questions) {
    const int option_count = count_of(question.options);
    CHECK(option_count > 0);
    Answer answer{.id = question.id, .kind = question.kind};
    answer.probabilities.assign(at(option_count), 1.0 / option_count);
    response.answers.push_back(std::move(answer));
  }
  return response;
}

void check(const Dialect& dialect, std::string_view bytes) {
  const Result<Ask> ask = dialect.parse(bytes, {});
  if (!ask.ok()) {
    const SpelledError spelled = dialect.spell(ask.error());
    CHECK(spelled.status >= 400 && (spelled.status < 500 || spelled.status == 501));
    CHECK(json::parse(spelled.body).ok());
    return;
  }
  std::vector<Response> responses;
  for (const Request& request : ask.value().requests) {
    responses.push_back(uniform_response(request));
  }
  std::vector<Answered> answered;
  for (std::size_t i = 0; i < responses.size(); ++i) {
    answered.push_back({&ask.value().requests[i], &responses[i]});
  }
  CHECK(json::parse(ask.value().print(answered)).ok());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const Dialect* dialect : {&kSystemOne, &kLlamaSystemOne, &kDecisions}) {
    check(*dialect, bytes);
  }
  return 0;
}
