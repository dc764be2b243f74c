// Shows how far a long step is: a bar where somebody watches, a line now and then where not.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace adjudge::app {

std::string megabytes(std::size_t bytes);

class Progress {
 public:
  Progress(std::string title, std::size_t bytes_total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // The speed counts from the first call.
  void at(std::size_t bytes);
  // A line of its own, above the bar.
  void say(const std::string& line);

 private:
  using Clock = std::chrono::steady_clock;
  void draw_bar();
  void print_line();
  double bytes_per_second() const;

  const std::string title_;
  const std::size_t bytes_total_;
  const bool watched_;
  std::size_t bytes_ = 0;
  std::size_t bytes_begin_ = 0;
  int tenths_printed_ = -1;
  bool begun_ = false;
  bool bar_shown_ = false;
  Clock::time_point begin_;
  Clock::time_point drawn_;
};

}  // namespace adjudge::app
