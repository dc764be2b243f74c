#include "family/render/label_code.h"

#include <set>

#include "base/size.h"

namespace adjudge {

std::vector<std::string> capital_codes() {
  std::vector<std::string> codes;
  for (char letter = 'A'; letter <= 'Z'; ++letter) codes.push_back({letter});
  for (char first = 'A'; first <= 'Z'; ++first) {
    for (char second = 'A'; second <= 'Z'; ++second) codes.push_back({first, second});
  }
  return codes;
}

Result<std::vector<Label>> bare_labels(const text::Tokenizer& tokenizer,
                                       const std::vector<std::string>& codes, int required_count) {
  std::vector<Label> labels;
  std::set<Token> taken;
  for (int i = 0; i < count_of(codes) && count_of(labels) < kLabelCountMax; ++i) {
    const std::string& code = codes[at(i)];
    const std::optional<Token> token = tokenizer.single(code);
    // An incomplete vocabulary drops letters: "AX" may then be the token of "A".
    if (token && taken.insert(*token).second) {
      labels.push_back({code, {*token}});
    } else if (i < required_count) {
      return Error{ErrorKind::bad_model, "tokenizer.ggml.tokens: the label \"" + code +
                                             "\" is not one token of its own, as this family "
                                             "needs it"};
    }
  }
  return labels;
}

}  // namespace adjudge
