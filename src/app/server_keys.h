// The keys a server accepts, from wherever they were given.
#pragma once

#include <string>
#include <vector>

#include "adjudge/result.h"

namespace adjudge::app {

struct KeySources {
  std::vector<std::string>
      keys;          // from the command line, where other users of the machine see them
  std::string file;  // one a line; empty: none
};

// Those, and the ones of ADJUDGE_API_KEYS, separated by commas. A key is 1 to 1,024 printable ASCII
// characters.
Result<std::vector<std::string>> read_keys(const KeySources& sources);

}  // namespace adjudge::app
