// JSON values of a request as the text a prompt shows.
#pragma once

#include <string>

#include "json/print.h"
#include "json/value.h"
#include "protocol/request.h"

namespace adjudge {

// A string as it is, anything else as JSON (a null is "null").
std::string str_or(const json::Value& value, json::Flavour flavour);

// The question's instructions; empty when there are none.
std::string instructions_text(const Question& question, json::Flavour flavour);

// What the references' templates count as nothing: null, false, 0, 0.0, "", [], {}.
bool is_falsy(const json::Value& value);

// A question for those who gave no instructions but options that speak for themselves.
const char* neutral_instructions(QuestionKind kind);

}  // namespace adjudge
