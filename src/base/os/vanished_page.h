// Pages of a mapped file that are gone: the file was cut off, or its disk cannot be read. Touching
// one ends the process (SIGBUS), unless the program has asked to survive it; the page then reads as
// zero, and whoever mapped it must ask vanished() before believing what was computed from it.
#pragma once

#include <cstddef>

namespace adjudge {

// For programs, once; a library does not decide about signals.
void survive_vanished_pages();

// A mapping that is to be survived. Beyond a thousand at a time they are not.
class WatchedMapping {
 public:
  WatchedMapping(const void* begin, std::size_t bytes);
  ~WatchedMapping();
  WatchedMapping(const WatchedMapping&) = delete;
  WatchedMapping& operator=(const WatchedMapping&) = delete;

  // Whether any of its pages was gone when it was read.
  bool vanished() const;

 private:
  int slot_ = -1;  // none was free
};

}  // namespace adjudge
