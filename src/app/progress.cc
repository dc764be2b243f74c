#include "app/progress.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/os/terminal.h"

namespace adjudge::app {

namespace {

constexpr int kBarColumns = 30;
constexpr std::chrono::milliseconds kRedrawInterval{100};

}  // namespace

std::string megabytes(std::size_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f MB", static_cast<double>(bytes) / 1e6);
  return text;
}

Progress::Progress(std::string title, std::size_t bytes_total)
    : title_(std::move(title)), bytes_total_(bytes_total), watched_(stderr_is_terminal()) {}

Progress::~Progress() {
  if (!bar_shown_) return;
  draw_bar();
  std::fputc('\n', stderr);
}

void Progress::at(std::size_t bytes) {
  const Clock::time_point now = Clock::now();
  if (!std::exchange(begun_, true)) {
    begin_ = now;
    bytes_begin_ = bytes;
  }
  bytes_ = bytes;
  if (!watched_) return print_line();
  if (bar_shown_ && now - drawn_ < kRedrawInterval) return;
  drawn_ = now;
  draw_bar();
}

void Progress::say(const std::string& line) {
  if (bar_shown_) std::fputs("\r\033[K", stderr);
  std::fprintf(stderr, "%s\n", line.c_str());
  bar_shown_ = false;
}

double Progress::bytes_per_second() const {
  const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
  return static_cast<double>(bytes_ - std::min(bytes_, bytes_begin_)) / std::max(seconds, 1e-3);
}

void Progress::draw_bar() {
  const double share = static_cast<double>(bytes_) / static_cast<double>(bytes_total_);
  const int filled = static_cast<int>(share * kBarColumns);
  const std::string bar =
      std::string(static_cast<std::size_t>(std::clamp(filled, 0, kBarColumns)), '#');
  std::fprintf(stderr, "\r%s [%-*s] %3.0f %% of %s, %.1f MB/s \033[K", title_.c_str(), kBarColumns,
               bar.c_str(), 100 * share, megabytes(bytes_total_).c_str(), bytes_per_second() / 1e6);
  bar_shown_ = true;
}

// One line for every tenth of the way.
void Progress::print_line() {
  const int tenths = static_cast<int>(10 * bytes_ / bytes_total_);
  if (tenths <= tenths_printed_) return;
  tenths_printed_ = tenths;
  std::fprintf(stderr, "%s: %d %% of %s, %.1f MB/s\n", title_.c_str(), 10 * tenths,
               megabytes(bytes_total_).c_str(), bytes_per_second() / 1e6);
}

}  // namespace adjudge::app
