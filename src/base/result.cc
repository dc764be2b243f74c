#include "adjudge/result.h"

namespace adjudge {

std::string Error::message() const {
  std::string text;
  for (const Fault& fault : faults) {
    if (!text.empty()) text += "; ";
    for (std::size_t i = 0; i < fault.path.size(); ++i) text += (i ? "." : "") + fault.path[i];
    if (!fault.path.empty()) text += ": ";
    text += fault.message;
  }
  return text;
}

}  // namespace adjudge
