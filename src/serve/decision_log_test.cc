#include "serve/decision_log.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <sstream>

#include "json/value.h"
#include "support/support.h"

namespace adjudge::serve {
namespace {

using testing::read_file;
using testing::TemporaryFolder;

// A log, and what it reported.
class Logged {
 public:
  explicit Logged(std::string path) : path_(std::move(path)) {
    log_ =
        DecisionLog::open(
            {.path = path_, .report = [this](const std::string& what) { reports.push_back(what); }},
            {})
            .value();
  }
  void write(const std::string& id) {
    const Request request{.state = json::string("s")};
    const Result<Response> response = Response{.model = "m"};
    log_->write({id, request, response, 0, 1});
  }
  // The ids of the lines that are JSON, and how many are not.
  std::vector<std::string> ids(int* broken_count = nullptr) const {
    std::vector<std::string> found;
    std::istringstream lines(read_file(path_));
    for (std::string line; std::getline(lines, line);) {
      const auto value = json::parse(line);
      if (value.ok()) found.push_back(value.value().find("id")->text);
      if (!value.ok() && broken_count != nullptr) ++*broken_count;
    }
    return found;
  }

  std::vector<std::string> reports;

 private:
  std::string path_;
  std::unique_ptr<DecisionLog> log_;
};

void limit_file_bytes(rlim_t bytes) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  limit.rlim_cur = std::min(bytes, limit.rlim_max);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

TEST(DecisionLog, AFullDiskIsReportedOnceAndEndsNothing) {
  Logged log("/dev/full");
  log.write("1");
  log.write("2");
  ASSERT_EQ(log.reports.size(), 1u);
  EXPECT_NE(log.reports[0].find("No space left on device"), std::string::npos);
}

TEST(DecisionLog, GoesOnWhenThereIsRoomAgain) {
  const TemporaryFolder folder;
  Logged log(folder.path() + "/log.jsonl");
  log.write("1");
  std::signal(SIGXFSZ, SIG_IGN);
  limit_file_bytes(200);  // a line and a half
  log.write("2");
  log.write("3");
  limit_file_bytes(RLIM_INFINITY);
  log.write("4");
  log.write("5");
  int broken_count = 0;
  EXPECT_EQ(log.ids(&broken_count), (std::vector<std::string>{"1", "4", "5"}));
  EXPECT_EQ(broken_count, 1);
  ASSERT_EQ(log.reports.size(), 2u);
  EXPECT_EQ(log.reports[1], "the decision log goes on; lines lost: 2");
}

TEST(DecisionLog, HalfALineOfAServerThatWasKilledSpoilsNoOther) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/log.jsonl";
  testing::write_file(path, "{\"id\":\"0\"}\n{\"id\":\"kil");
  Logged(path).write("1");
  Logged(path).write("2");
  int broken_count = 0;
  EXPECT_EQ(Logged(path).ids(&broken_count), (std::vector<std::string>{"0", "1", "2"}));
  EXPECT_EQ(broken_count, 1);
}

TEST(DecisionLog, AFileThatCannotBeWrittenIsNamed) {
  const auto log = DecisionLog::open({.path = "/proc/none/log.jsonl"}, {});
  ASSERT_FALSE(log.ok());
  EXPECT_NE(log.error().message().find("/proc/none/log.jsonl"), std::string::npos);
}

}  // namespace
}  // namespace adjudge::serve
