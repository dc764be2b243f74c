// The wish that this process end, as something to wait for instead of something that interrupts.
#pragma once

namespace adjudge {

// For programs: writing more than a file may hold is an error like any other, not the end.
void outlive_full_files();

// While it lives, TERM and INT wait until somebody asks; writing to a pipe that nobody reads, or
// more than a file may hold, is an error like any other. Made before the first thread, since
// threads inherit what is blocked.
class TerminationSignals {
 public:
  TerminationSignals();
  ~TerminationSignals();
  TerminationSignals(const TerminationSignals&) = delete;
  TerminationSignals& operator=(const TerminationSignals&) = delete;

  // Whether a signal has come; it is taken as by wait().
  bool arrived();
  // Returns at the first signal. From then on a second one ends the process at once.
  void wait();
};

}  // namespace adjudge
