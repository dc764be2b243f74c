// Any bytes to the JSON reader: what it accepts must come back the same from every way of printing.

#include <array>
#include <cstdint>

#include "base/check.h"
#include "json/print.h"
#include "json/value.h"

namespace {

using adjudge::json::Flavour;
using adjudge::json::Value;

constexpr std::array kInOrder = {Flavour::py, Flavour::compact, Flavour::indent2};
constexpr std::array kSorted = {Flavour::py_sorted, Flavour::canon};

// As printed one way; the text tells 1 from 1.0, so equal texts are equal values.
void check_reads_back(const Value& value, Flavour flavour) {
  const std::string text = print(value, flavour);
  const auto again = adjudge::json::parse(text);
  CHECK(again.ok());
  CHECK(print(again.value(), flavour) == text);
  CHECK(print(again.value(), Flavour::canon) == print(value, Flavour::canon));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto value = adjudge::json::parse({reinterpret_cast<const char*>(data), size});
  if (!value.ok()) {
    CHECK(!value.error().message().empty());
    return 0;
  }
  for (const Flavour flavour : kInOrder) {
    check_reads_back(value.value(), flavour);
    const std::string text = print(value.value(), flavour);
    CHECK(print(adjudge::json::parse(text).value(), Flavour::py) ==
          print(value.value(), Flavour::py));
  }
  for (const Flavour flavour : kSorted) check_reads_back(value.value(), flavour);
  return 0;
}
