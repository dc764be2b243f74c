// The printable characters that stand for bytes in byte-level vocabularies (GPT-2's
// bytes_to_unicode): a space is "Ġ", a line feed "Ċ".
#pragma once

#include <string>
#include <string_view>

namespace adjudge::text {

// Appends one character per byte.
void append_letters(std::string_view bytes, std::string& out);

// The bytes that the characters of `letters` stand for; what is no letter of the alphabet stands
// for itself.
std::string bytes_of_letters(std::string_view letters);

}  // namespace adjudge::text
