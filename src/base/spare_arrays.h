// Arrays that somebody has done with, for the next who wants one of that size: pages the machine
// has just handed out cost several times what is then written to them.
#pragma once

#include <mutex>
#include <vector>

#include "base/aligned.h"

namespace adjudge {

class SpareArrays {
 public:
  // So many are kept; more are freed.
  static constexpr std::size_t kKeptMax = 2;

  // Not initialised.
  Aligned<float> take(std::size_t count);
  void leave(Aligned<float> array);

 private:
  std::mutex mutex_;
  std::vector<Aligned<float>> kept_;
};

}  // namespace adjudge
