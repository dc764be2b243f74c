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

// A terminal that is ready takes at least a byte and may let us wait with the rest. To be told
// instead takes a description of our own: the one we were given is others' too.
int stderr_that_does_not_wait() {
  if (::isatty(STDERR_FILENO) != 1) return STDERR_FILENO;
  const int own = ::open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  return own < 0 ? STDERR_FILENO : own;
}

}  // namespace

void occupy_standard_descriptors() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) != -1) continue;
    // The lowest number that is free is this one. Open the other way round it is as good as closed.
    ::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

bool write_to_stderr(std::string_view text, const std::function<bool()>& give_up) {
  static const int descriptor = stderr_that_does_not_wait();
  while (!text.empty()) {
    const bool hurries = give_up();
    pollfd waiting{descriptor, POLLOUT, 0};
    if (::poll(&waiting, 1, hurries ? 0 : kStepMs) <= 0) {
      if (hurries) return false;
      continue;
    }
    // A pipe that is ready takes so much without making us wait.
    const std::size_t piece = std::min<std::size_t>(text.size(), PIPE_BUF);
    const ssize_t written = ::write(descriptor, text.data(), piece);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN && !hurries) {
      ::poll(nullptr, 0, kStepMs);  // room for a byte is not always room for a character
      continue;
    }
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace adjudge
