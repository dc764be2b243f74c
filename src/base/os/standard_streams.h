// The descriptors 0, 1 and 2, which belong to whoever started us: they may be closed, and nobody
// may read them.
#pragma once

#include <functional>
#include <string_view>

namespace adjudge {

// For programs, before they open anything. A closed one would become the number of the next file,
// which would then be read as input or printed into; reading and writing stay errors.
void occupy_standard_descriptors();

// Waits for whoever reads; asks `give_up` a few times a second meanwhile, and from the moment it
// says so writes only what is taken at once. False when something was not.
bool write_to_stderr(std::string_view text, const std::function<bool()>& give_up);

}  // namespace adjudge
