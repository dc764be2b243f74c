#include "family/render/value_text.h"

namespace adjudge {

std::string str_or(const json::Value& value, json::Flavour flavour) {
  return value.is_string() ? value.text : json::print(value, flavour);
}

std::string instructions_text(const Question& question, json::Flavour flavour) {
  return question.instructions.is_null() ? "" : str_or(question.instructions, flavour);
}

bool is_falsy(const json::Value& value) {
  switch (value.type) {
    case json::Type::null:
      return true;
    case json::Type::boolean:
      return !value.boolean;
    case json::Type::integer:
      return value.text == "0";
    case json::Type::real:
      return value.real == 0.0;
    case json::Type::string:
      return value.text.empty();
    case json::Type::array:
      return value.items.empty();
    case json::Type::object:
      return value.members.empty();
  }
  return false;
}

const char* neutral_instructions(QuestionKind kind) {
  switch (kind) {
    case QuestionKind::choice:
      return "Which option fits best?";
    case QuestionKind::score:
      return "Which level fits best?";
    case QuestionKind::noul:
      break;
  }
  return "Is it true?";
}

}  // namespace adjudge
