#include "app/server_keys.h"

#include <algorithm>
#include <sstream>

#include "app/environment.h"
#include "app/options.h"
#include "base/try.h"

namespace adjudge::app {

namespace {

constexpr std::size_t kKeyBytesMax = 1024;

// The pieces that are not empty, without blanks around them.
void add_pieces(const std::string& text, char separator, std::vector<std::string>& keys) {
  std::istringstream pieces(text);
  for (std::string piece; std::getline(pieces, piece, separator);) {
    const std::size_t begin = piece.find_first_not_of(" \t\r\n");
    if (begin == std::string::npos) continue;
    keys.push_back(piece.substr(begin, piece.find_last_not_of(" \t\r\n") - begin + 1));
  }
}

bool is_key(const std::string& key) {
  const auto printable = [](char c) { return c > ' ' && c <= '~'; };
  return !key.empty() && key.size() <= kKeyBytesMax && std::ranges::all_of(key, printable);
}

}  // namespace

Result<std::vector<std::string>> read_keys(const KeySources& sources) {
  std::vector<std::string> keys = sources.keys;
  if (!sources.file.empty()) {
    ADJ_TRY(const std::string content, read_input(sources.file));
    add_pieces(content, '\n', keys);
    if (keys.size() == sources.keys.size()) {
      return Error{ErrorKind::bad_request, sources.file + ": holds no key"};
    }
  }
  if (const auto listed = environment("ADJUDGE_API_KEYS")) add_pieces(*listed, ',', keys);
  // Which key is wrong is not said: errors end up in logs.
  if (!std::ranges::all_of(keys, is_key)) {
    return Error{ErrorKind::bad_request,
                 "a key must be 1 to 1024 printable ASCII characters without blanks"};
  }
  return keys;
}

}  // namespace adjudge::app
