// Any bytes to the System One reader: a refusal must print as JSON, a request must survive printing
// and take a made-up response.

#include <cstdint>

#include "base/check.h"
#include "base/size.h"
#include "json/value.h"
#include "protocol/error_body.h"
#include "protocol/systemone.h"

namespace {

using namespace adjudge;

Answer uniform_answer(const Question& question) {
  const int option_count = count_of(question.options);
  return {.id = question.id,
          .kind = question.kind,
          .probabilities = std::vector<double>(at(option_count), 1.0 / option_count),
          .value = 0.1,
          .best = option_count - 1,
          .confidence = 1};
}

void check_refusal(const Error& error) {
  const auto body = json::parse(print_error(error));
  CHECK(body.ok() && body.value().find("detail") != nullptr);
  CHECK(status_of(error) == 422 || status_of(error) == 413);
}

void check_request(const Request& request) {
  CHECK(!request.questions.empty());
  Response response;
  for (const Question& question : request.questions) {
    CHECK(!question.options.empty());
    response.answers.push_back(uniform_answer(question));
  }
  const auto body = json::parse(print_systemone(response, request));
  CHECK(body.ok());
  CHECK(body.value().find("answers")->members.size() == request.questions.size());

  const std::string text = print_request(request);
  const auto again = parse_systemone(text, {});
  CHECK(again.ok());
  CHECK(print_request(again.value()) == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto request = parse_systemone({reinterpret_cast<const char*>(data), size}, {});
  if (request.ok()) {
    check_request(request.value());
  } else {
    check_refusal(request.error());
  }
  return 0;
}
