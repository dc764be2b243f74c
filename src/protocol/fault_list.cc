#include "protocol/fault_list.h"

#include "base/size.h"

namespace adjudge {

Path member_path(const Question& question, std::string member) {
  return {"questions", question.id, kind_name(question.kind), std::move(member)};
}

std::string too_many(std::size_t count, int most, const std::string& noun) {
  return std::to_string(count) + " " + noun + ", at most " + std::to_string(most);
}

void FaultList::refuse(Path path, std::string type, std::string message) {
  if (count_of(faults_) == count_max_) return;
  faults_.push_back({std::move(path), std::move(type), std::move(message)});
}

void FaultList::check_count(const Path& path, std::size_t count, int least, int most,
                            const std::string& noun) {
  if (count < at(least)) {
    refuse(path, "too_short",
           std::to_string(count) + " " + noun + ", at least " + std::to_string(least));
  }
  if (count > at(most)) refuse(path, "too_long", too_many(count, most, noun));
}

}  // namespace adjudge
