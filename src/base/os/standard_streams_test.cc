#include "base/os/standard_streams.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace adjudge {
namespace {

// What a child process leaves with.
template <class Run>
int status_of_child(const Run& run) {
  const pid_t child = fork();
  if (child == 0) _exit(run());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

TEST(StandardStreams, ClosedOnesAreOccupiedAndStayErrors) {
  EXPECT_EQ(status_of_child([] {
              for (const int descriptor : {0, 1, 2}) close(descriptor);
              occupy_standard_descriptors();
              char byte = 0;
              if (open("/dev/null", O_RDONLY) <= 2) return 1;
              if (read(0, &byte, 1) != -1 || write(1, &byte, 1) != -1) return 2;
              return write(2, &byte, 1) == -1 ? 0 : 3;
            }),
            0);
}

TEST(StandardStreams, OpenOnesAreLeftAsTheyAre) {
  EXPECT_EQ(status_of_child([] {
              int pipe[2];
              char byte = 'x';
              if (::pipe(pipe) != 0 || dup2(pipe[0], 0) != 0 || dup2(pipe[1], 1) != 1) return 1;
              occupy_standard_descriptors();
              return write(1, &byte, 1) == 1 && read(0, &byte, 1) == 1 ? 0 : 2;
            }),
            0);
}

TEST(StandardStreams, AReaderThatDoesNotReadIsGivenUp) {
  EXPECT_EQ(status_of_child([] {
              int pipe[2];
              if (::pipe(pipe) != 0 || dup2(pipe[1], 2) != 2) return 1;
              int asked_count = 0;
              const std::string more_than_a_pipe_holds(1 << 20, 'x');
              const bool written =
                  write_to_stderr(more_than_a_pipe_holds, [&] { return ++asked_count > 20; });
              if (written || asked_count < 20) return 2;
              char byte = 0;
              if (write_to_stderr("y", [] { return true; })) return 3;
              return read(pipe[0], &byte, 1) == 1 && byte == 'x' ? 0 : 4;
            }),
            0);
}

TEST(StandardStreams, ATerminalThatNobodyReadsIsGivenUp) {
  constexpr int kNoTerminals = 1;
  const int status = status_of_child([] {
    const int watcher = posix_openpt(O_RDWR | O_NOCTTY);
    if (watcher < 0 || grantpt(watcher) != 0 || unlockpt(watcher) != 0) return kNoTerminals;
    const int terminal = open(ptsname(watcher), O_RDWR | O_NOCTTY);
    if (terminal < 0 || dup2(terminal, 2) != 2) return 2;
    alarm(20);  // a write that waits ends as a failure
    int asked_count = 0;
    const std::string more_than_it_holds(1 << 20, 'x');
    return write_to_stderr(more_than_it_holds, [&] { return ++asked_count > 40; }) ? 3 : 0;
  });
  if (status == kNoTerminals) GTEST_SKIP() << "this machine gives no pseudo-terminals";
  EXPECT_EQ(status, 0);
}

TEST(StandardStreams, WhatIsReadInTimeIsWritten) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const std::string text(1 << 20, 'x');
  const pid_t child = fork();
  if (child == 0) {
    dup2(pipe[1], 2);
    _exit(write_to_stderr(text, [] { return false; }) ? 0 : 1);
  }
  close(pipe[1]);
  std::string read_text;
  std::string piece(1 << 16, ' ');
  for (ssize_t count = 0; (count = read(pipe[0], piece.data(), piece.size())) > 0;) {
    read_text.append(piece, 0, static_cast<std::size_t>(count));
  }
  EXPECT_EQ(read_text, text);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  close(pipe[0]);
}

}  // namespace
}  // namespace adjudge
