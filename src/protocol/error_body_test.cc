#include "protocol/error_body.h"

#include <gtest/gtest.h>

#include "json/value.h"

namespace adjudge {
namespace {

TEST(PrintError, ListsTheFaultsOfARefusedRequestTwice) {
  const Error error(ErrorKind::bad_request, std::vector<Fault>{
                                                {{"questions", "tone", "score", "criteria"},
                                                 "list_type",
                                                 "score criteria must be a list"},
                                                {{"state"}, "missing", "state is required"},
                                            });
  EXPECT_EQ(print_error(error),
            R"({"detail":[{"loc":["body","questions","tone","score","criteria"],)"
            R"("msg":"score criteria must be a list","type":"list_type"},)"
            R"({"loc":["body","state"],"msg":"state is required","type":"missing"}],)"
            R"("error":{"code":422,"type":"invalid_request_error","message":)"
            R"("questions.tone.score.criteria: score criteria must be a list; )"
            R"(state: state is required"}})");
}

TEST(PrintError, GivesOtherErrorsAsAnObject) {
  EXPECT_EQ(
      print_error(Error(ErrorKind::too_large, "9000 tokens, at most 4096")),
      R"({"detail":{"error_type":"max_tokens_exceeded","message":"9000 tokens, at most 4096"},)"
      R"("error":{"code":413,"type":"request_too_large_error",)"
      R"("message":"9000 tokens, at most 4096"}})");
}

TEST(PrintError, NamesTheTypeThatTheFaultNames) {
  const Error error(ErrorKind::too_large, std::vector<Fault>{{{}, "too_long", "5 questions"}});
  EXPECT_NE(print_error(error).find(R"("error_type":"too_long")"), std::string::npos);
  EXPECT_NE(print_error(Error(ErrorKind::not_supported, "no pictures")).find("not_supported"),
            std::string::npos);
}

TEST(PrintError, StaysOneLineOfJsonWhateverTheMessage) {
  const std::string body = print_error(Error(ErrorKind::internal, "a \"quote\"\nand a line"));
  EXPECT_EQ(body.find('\n'), std::string::npos);
  EXPECT_EQ(json::parse(body).value().find("error")->find("message")->text,
            "a \"quote\"\nand a line");
}

TEST(Status, BlamesTheServerOnlyForWhatIsNotTheRequest) {
  for (const ErrorKind kind :
       {ErrorKind::bad_request, ErrorKind::too_large, ErrorKind::not_supported,
        ErrorKind::overloaded, ErrorKind::cancelled}) {
    EXPECT_LT(status_of({kind, ""}), 500);
    EXPECT_GE(status_of({kind, ""}), 400);
  }
  for (const ErrorKind kind :
       {ErrorKind::bad_model, ErrorKind::deadline, ErrorKind::unavailable, ErrorKind::internal}) {
    EXPECT_GE(status_of({kind, ""}), 500);
  }
  EXPECT_EQ(status_of({ErrorKind::bad_request, ""}), 422);
  EXPECT_EQ(status_of({ErrorKind::too_large, ""}), 413);
  EXPECT_EQ(status_of({ErrorKind::overloaded, ""}), 429);
  EXPECT_EQ(status_of({ErrorKind::unavailable, ""}), 503);
}

}  // namespace
}  // namespace adjudge
