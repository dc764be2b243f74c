#include "base/os/standard_streams.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace adjudge {

namespace {

constexpr int kStepMs = 50;

}  // namespace

void occupy_standard_descriptors() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) != -1) continue;
    // The lowest number that is free is this one. Open the other way round it is as good as closed.
    ::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

bool write_to_stderr(std::string_view text, const std::function<bool()>& give_up) {
  while (!text.empty()) {
    const bool hurries = give_up();
    pollfd waiting{STDERR_FILENO, POLLOUT, 0};
    if (::poll(&waiting, 1, hurries ? 0 : kStepMs) <= 0) {
      if (hurries) return false;
      continue;
    }
    // A pipe that is ready takes so much without making us wait.
    const std::size_t piece = std::min<std::size_t>(text.size(), PIPE_BUF);
    const ssize_t written = ::write(STDERR_FILENO, text.data(), piece);
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace adjudge
