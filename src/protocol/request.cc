#include "protocol/request.h"

#include "base/check.h"

namespace adjudge {

const char* kind_name(QuestionKind kind) {
  switch (kind) {
    case QuestionKind::choice:
      return "choice";
    case QuestionKind::score:
      return "score";
    case QuestionKind::noul:
      return "noul";
  }
  CHECK(false);
}

}  // namespace adjudge
