// What is wrong with a body, collected while it is read.
#pragma once

#include <string>
#include <vector>

#include "adjudge/result.h"
#include "protocol/request.h"

namespace adjudge {

using Path = std::vector<std::string>;

inline Path operator/(Path path, std::string step) {
  path.push_back(std::move(step));
  return path;
}

// Where validators see a member of a question: {"questions", "team", "choice", "criteria"}.
Path member_path(const Question& question, std::string member);

std::string too_many(std::size_t count, int most, const std::string& noun);

class FaultList {
 public:
  explicit FaultList(int count_max) : count_max_(count_max) {}

  // Beyond the most that are quoted, the rest is not listed.
  void refuse(Path path, std::string type, std::string message);
  // Between `least` and `most`, or a fault.
  void check_count(const Path& path, std::size_t count, int least, int most,
                   const std::string& noun);

  bool empty() const { return faults_.empty(); }
  Error error() && { return {ErrorKind::bad_request, std::move(faults_)}; }

 private:
  int count_max_;
  std::vector<Fault> faults_;
};

}  // namespace adjudge
