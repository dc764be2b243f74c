#include "base/os/termination.h"

#include <csignal>

#include "base/check.h"

namespace adjudge {

namespace {

sigset_t termination_set() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  return set;
}

void mask(int how) {
  const sigset_t set = termination_set();
  CHECK(pthread_sigmask(how, &set, nullptr) == 0);
}

}  // namespace

void outlive_full_files() { std::signal(SIGXFSZ, SIG_IGN); }

TerminationSignals::TerminationSignals() {
  mask(SIG_BLOCK);
  std::signal(SIGPIPE, SIG_IGN);
  outlive_full_files();
}

TerminationSignals::~TerminationSignals() { mask(SIG_UNBLOCK); }

bool TerminationSignals::arrived() {
  const sigset_t set = termination_set();
  const timespec now{};
  if (sigtimedwait(&set, nullptr, &now) < 0) return false;
  mask(SIG_UNBLOCK);
  return true;
}

void TerminationSignals::wait() {
  const sigset_t set = termination_set();
  int signal = 0;
  CHECK(sigwait(&set, &signal) == 0);
  mask(SIG_UNBLOCK);
}

}  // namespace adjudge
