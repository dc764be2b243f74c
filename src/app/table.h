// Answers as a table for people: bars for probabilities, and where the time went.
#pragma once

#include <string>

#include "protocol/answer.h"
#include "protocol/request.h"

namespace adjudge::app {

std::string format_table(const Request& request, const Response& response);

// "load 0.21 s, 250 tokens read in 1.90 s (131 tokens/s), ..."
std::string format_timing(const Response& response, double load_ms);

}  // namespace adjudge::app
